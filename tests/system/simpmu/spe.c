// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
// "arm_spe_0" as the Arm driver presents a core with the Statistical Profiling Extension: what it
// refuses (perf_abi 4.2), its AUX area (4.3), and records as Neoverse cores write them (4.4, 4.5).
//
// That the processor around it is no Arm one does not matter to who reads the area: records hold
// addresses, latencies and bits. Timestamps are those of the counter that programs can read, here
// the TSC. Records are 64 bytes long and aligned, the rest of each is padding.
#include <linux/cpu.h>
#include <linux/device.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/version.h>

#include <asm/msr.h>
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

#include "simpmu.h"

static bool spe;
module_param(spe, bool, 0444);
MODULE_PARM_DESC(spe, "register arm_spe_0");
static ulong spe_midr = 0x410fd4f0;  // Neoverse V2; 0x413fd0c1 is Altra's N1
module_param(spe_midr, ulong, 0444);
MODULE_PARM_DESC(spe_midr, "what each CPU's midr_el1 says");

#define RECORD_BYTES 64
#define MIN_INTERVAL 256

#define CONFIG_TS_ENABLE BIT_ULL(0)
#define CONFIG_PA_ENABLE BIT_ULL(1)
#define CONFIG_PCT_ENABLE BIT_ULL(2)
#define CONFIG_LOADS BIT_ULL(33)
#define CONFIG_STORES BIT_ULL(34)
#define CONFIG2_MIN_LATENCY GENMASK_ULL(11, 0)
// Of config1, an AND of events: the architected ones of SPEv1.
#define EVENT_FILTER_KNOWN 0xffull

#define EVENT_RETIRED BIT(1)
#define EVENT_L1D_ACCESS BIT(2)
#define EVENT_L1D_REFILL BIT(3)
#define EVENT_TLB_ACCESS BIT(4)
#define EVENT_LLC_ACCESS BIT(8)
#define EVENT_LLC_MISS BIT(9)
#define EVENT_REMOTE BIT(10)

#define NON_SECURE BIT_ULL(63)
#define ADDRESS_BITS GENMASK_ULL(55, 0)

// The area of one event, from setup_aux() to free_aux().
struct area {
  int pages;
  void *page[];
};

// What this CPU is writing, between perf_aux_output_begin() and _end().
struct output {
  struct perf_output_handle handle;
  struct area *area;  // NULL: nothing
  size_t written;     // behind handle.head
};
static DEFINE_PER_CPU(struct output, outputs);

static struct sim_pmu sim_spe;

static void *setup_aux(struct perf_event *event, void **pages, int count, bool overwrite) {
  struct area *area;

  if (count < 2) return NULL;  // the driver's minimum
  area = kzalloc(struct_size(area, page, count), GFP_KERNEL);
  if (!area) return NULL;
  area->pages = count;
  memcpy(area->page, pages, count * sizeof(*pages));
  return area;
}

static void free_aux(void *area) { kfree(area); }

// Room for records before the reader must be woken or the area is full.
static size_t room(const struct output *output) {
  const struct perf_output_handle *handle = &output->handle;
  unsigned long end = handle->head + handle->size;

  if (handle->head < handle->wakeup && handle->wakeup < end)
    end = round_up(handle->wakeup, RECORD_BYTES);
  return end - handle->head;
}

static void end_output(struct perf_event *event) {
  struct output *output = this_cpu_ptr(&outputs);

  if (!output->area) return;
  output->area = NULL;
  perf_aux_output_end(&output->handle, output->written);
}

// False: there is no area, or it is full; the kernel disables the event then.
static bool begin_output(struct perf_event *event) {
  struct output *output = this_cpu_ptr(&outputs);

  output->written = 0;
  output->area = perf_aux_output_begin(&output->handle, event);
  if (!output->area) return false;
  if (room(output) >= RECORD_BYTES) return true;
  perf_aux_output_flag(&output->handle, PERF_AUX_FLAG_TRUNCATED);
  end_output(event);
  return false;
}

static u8 *put(u8 *at, u8 header, u64 value, int bytes) {
  *at++ = header;
  put_unaligned_le64(value, at);  // what is behind it is written next, or is padding
  return at + bytes;
}

static u16 events_of(const struct sim_access *access) {
  bool remote = access->remote && access->level >= SIM_PEER;
  u16 events = EVENT_RETIRED;

  if (!access->op.memory) return events;
  events |= EVENT_L1D_ACCESS | EVENT_TLB_ACCESS;
  if (access->level > SIM_L1) events |= EVENT_L1D_REFILL;
  if (access->level > SIM_L2) events |= EVENT_LLC_ACCESS;
  if (access->level > SIM_L3) events |= EVENT_LLC_MISS;
  return remote ? events | EVENT_REMOTE : events;
}

// The encoding that Arm's own cores share (perf_abi 4.5): 0xd is anything of another socket.
static u8 data_source_of(const struct sim_access *access) {
  switch (access->level) {
    case SIM_L1:
      return 0x0;
    case SIM_L2:
      return 0x8;
    case SIM_L3:
      return 0xb;
    case SIM_PEER:
    case SIM_PEER_MODIFIED:
      return 0xd;
    case SIM_DRAM:
      break;
  }
  return access->remote ? 0xd : 0xe;
}

// One record; its packets in the order of perf_abi 7.2's recorded ones.
static void make_record(u64 config, const struct sim_access *access, u8 *record) {
  const struct sim_op *op = &access->op;
  u8 *at = record;

  memset(record, 0, RECORD_BYTES + sizeof(u64));
  at = put(at, 0xb0, (op->ip & ADDRESS_BITS) | NON_SECURE, 8);
  at = put(at, 0x52, events_of(access), 2);
  at = put(at, op->memory ? 0x49 : 0x48, op->memory ? !op->load : 0, 1);
  at = put(at, 0x98, access->latency + 12, 2);  // total: from dispatch
  at = put(at, 0x99, 12, 2);                    // until issued
  if (op->memory) {
    at = put(at, 0xb2, op->addr & ADDRESS_BITS, 8);
    at = put(at, 0x9a, 1, 2);  // translation
    if (op->load) at = put(at, 0x43, data_source_of(access), 1);
    if ((config & CONFIG_PA_ENABLE) && access->mapped)
      at = put(at, 0xb3, (access->phys & ADDRESS_BITS) | NON_SECURE, 8);
  }
  put(at, config & CONFIG_TS_ENABLE ? 0x71 : 0x01, config & CONFIG_TS_ENABLE ? rdtsc_ordered() : 0,
      8);
}

static bool is_filtered(const struct perf_event *event, const struct sim_access *access) {
  u64 classes = event->attr.config & (CONFIG_LOADS | CONFIG_STORES);
  u64 min_latency = event->attr.config2 & CONFIG2_MIN_LATENCY;
  bool wanted = !classes || ((classes & CONFIG_LOADS) && access->op.load) ||
                ((classes & CONFIG_STORES) && access->op.store);

  return !wanted || access->latency + 12 < min_latency;
}

static bool write_record(struct sim_event *sim, const struct sim_access *access) {
  struct output *output = this_cpu_ptr(&outputs);
  struct perf_event *event = sim->event;
  u8 record[RECORD_BYTES + sizeof(u64)];
  unsigned long offset;

  if (is_filtered(event, access)) return false;
  if (!output->area) return true;
  if (output->written + RECORD_BYTES > room(output)) {
    end_output(event);
    if (!begin_output(event)) {
      sim_stop(event, 0);
      return true;
    }
  }
  make_record(event->attr.config, access, record);
  offset = (output->handle.head + output->written) % (output->area->pages * PAGE_SIZE);
  memcpy(output->area->page[offset / PAGE_SIZE] + offset % PAGE_SIZE, record, RECORD_BYTES);
  output->written += RECORD_BYTES;
  local64_add(event->hw.sample_period, &event->count);
  sim_samples++;
  return true;
}

static bool wants(const struct perf_event *event, const struct sim_op *op) {
  u64 classes = event->attr.config & (CONFIG_LOADS | CONFIG_STORES);

  return !classes || ((classes & CONFIG_LOADS) && op->load) ||
         ((classes & CONFIG_STORES) && op->store);
}

// In the driver's order.
static int check(struct perf_event *event) {
  const struct perf_event_attr *attr = &event->attr;

  if (attr->config1 & ~EVENT_FILTER_KNOWN) return -EOPNOTSUPP;
  if (attr->exclude_idle) return -EOPNOTSUPP;
  if (attr->freq) return -EINVAL;
  if ((attr->config & (CONFIG_PA_ENABLE | CONFIG_PCT_ENABLE)) && !perfmon_capable()) return -EACCES;
  event->hw.sample_period = max_t(u64, attr->sample_period & ~0xffull, MIN_INTERVAL);
  event->hw.last_period = event->hw.sample_period;
  return 0;
}

PMU_FORMAT_ATTR(ts_enable, "config:0");
PMU_FORMAT_ATTR(pa_enable, "config:1");
PMU_FORMAT_ATTR(pct_enable, "config:2");
PMU_FORMAT_ATTR(jitter, "config:16");
PMU_FORMAT_ATTR(branch_filter, "config:32");
PMU_FORMAT_ATTR(load_filter, "config:33");
PMU_FORMAT_ATTR(store_filter, "config:34");
PMU_FORMAT_ATTR(event_filter, "config1:0-63");
PMU_FORMAT_ATTR(min_latency, "config2:0-11");
static struct attribute *formats[] = {
    &format_attr_ts_enable.attr,     &format_attr_pa_enable.attr,
    &format_attr_pct_enable.attr,    &format_attr_jitter.attr,
    &format_attr_branch_filter.attr, &format_attr_load_filter.attr,
    &format_attr_store_filter.attr,  &format_attr_event_filter.attr,
    &format_attr_min_latency.attr,   NULL};

static ssize_t number_show(struct device *dev, struct device_attribute *attr, char *page) {
  struct dev_ext_attribute *number = container_of(attr, struct dev_ext_attribute, attr);

  return sysfs_emit(page, "%lu\n", (unsigned long)number->var);
}
#define CAP(name, value)                                                               \
  static struct dev_ext_attribute cap_##name = {__ATTR(name, 0444, number_show, NULL), \
                                                (void *)value}
CAP(arch_inst, 0);
CAP(ernd, 1);
CAP(count_size, 12);
CAP(min_interval, MIN_INTERVAL);
static struct attribute *caps[] = {&cap_arch_inst.attr.attr, &cap_ernd.attr.attr,
                                   &cap_count_size.attr.attr, &cap_min_interval.attr.attr, NULL};

static ssize_t cpumask_show(struct device *dev, struct device_attribute *attr, char *page) {
  return cpumap_print_to_pagebuf(true, page, cpu_online_mask);
}
static DEVICE_ATTR_RO(cpumask);
static struct attribute *masks[] = {&dev_attr_cpumask.attr, NULL};

static const struct attribute_group format_group = {.name = "format", .attrs = formats};
static const struct attribute_group caps_group = {.name = "caps", .attrs = caps};
static const struct attribute_group mask_group = {.attrs = masks};
static const struct attribute_group *groups[] = {&format_group, &caps_group, &mask_group, NULL};

static ssize_t midr_show(struct kobject *kobj, struct kobj_attribute *attr, char *page) {
  return sysfs_emit(page, "0x%016lx\n", spe_midr);
}
static struct kobj_attribute midr = __ATTR(midr_el1, 0444, midr_show, NULL);

// cpuN/regs/identification/midr_el1, where Arm kernels have it.
static int show_midr(int cpu) {
  struct device *device = get_cpu_device(cpu);
  struct kobject *regs, *identification;

  if (!device) return 0;
  regs = kobject_create_and_add("regs", &device->kobj);
  identification = regs ? kobject_create_and_add("identification", regs) : NULL;
  return identification ? sysfs_create_file(identification, &midr.attr) : -ENOMEM;
}

int sim_spe_register(void) {
  int cpu, error;

  if (!spe) return 0;
  for_each_online_cpu(cpu) {
    error = show_midr(cpu);
    if (error) return error;
  }
  sim_spe.counters = 1;
  sim_spe.check = check;
  sim_spe.wants = wants;
  sim_spe.begin = begin_output;
  sim_spe.end = end_output;
  sim_spe.write = write_record;
  sim_spe.pmu.setup_aux = setup_aux;
  sim_spe.pmu.free_aux = free_aux;
  sim_spe.pmu.attr_groups = groups;
  sim_spe.pmu.task_ctx_nr = perf_sw_context;
  sim_spe.pmu.capabilities = PERF_PMU_CAP_EXCLUSIVE | PERF_PMU_CAP_ITRACE;
  sim_pmu_init(&sim_spe);
  return perf_pmu_register(&sim_spe.pmu, "arm_spe_0", -1);
}

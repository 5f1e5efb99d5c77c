// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
// "ibs_op" as the AMD driver of three kernels behaves: what it refuses (perf_abi 2.2), what it
// shows in sysfs (2.1), what a sample holds (2.4 to 2.6).
#include <linux/device.h>
#include <linux/log2.h>
#include <linux/module.h>

#include "simpmu.h"

static bool ibs = true;
module_param(ibs, bool, 0444);
MODULE_PARM_DESC(ibs, "register ibs_op");
// 601, 612 or 702: the kernels whose driver was read. The perf core is that of the running kernel.
static int ibs_kernel = 702;
module_param(ibs_kernel, int, 0444);
MODULE_PARM_DESC(ibs_kernel, "whose rules are followed, major * 100 + minor");
// CPUID Fn8000_001B EAX. Genoa's; 0x3ff is Milan's, 0x81bff Turin's with the page size of the TLB.
static uint ibs_caps = 0xbff;
module_param(ibs_caps, uint, 0444);
MODULE_PARM_DESC(ibs_caps, "the processor's IBS capabilities");

#define CAP_OPCNT BIT(4)
#define CAP_BRNTRGT BIT(5)
#define CAP_OPCNTEXT BIT(6)
#define CAP_OPDATA4 BIT(10)
#define CAP_ZEN4 BIT(11)
#define CAP_OPLDLAT BIT(12)
#define CAP_BIT63_FILTER BIT(15)

#define CONFIG_MAX_COUNT GENMASK_ULL(15, 0)
#define CONFIG_L3_MISS_ONLY BIT_ULL(16)
#define CONFIG_CNT_CTL BIT_ULL(19)
#define CONFIG_MAX_COUNT_EXT GENMASK_ULL(26, 20)
#define CONFIG1_LDLAT GENMASK_ULL(11, 0)
#define CONFIG2_SWFILT BIT_ULL(0)

#define NOT_AVAILABLE 0x1e05080021ull  // PERF_MEM_NA with LVLNUM_NA (perf_abi 1.2)
#define LOCK_NA (1ull << 24)
#define LOCKED (2ull << 24)
// Linux 6.1 fills none of the fields from mem_lvl_num on (perf_abi 2.5).
#define FIELDS_OF_601 GENMASK_ULL(32, 0)

// How a level shows: DataSrc, RmtNode (bit 4) and CacheHitSt (bit 5) of IBS_OP_DATA2, and the
// data source that the driver makes of them for a load. Rows of the recorded tables of
// perf_abi 2.5.
struct source {
  u64 data2;
  u64 load;
};

static const struct source sources_zen4[] = {
    [SIM_L1] = {0, 0x229080142},
    [SIM_L2] = {0, 0x429080442},
    [SIM_L3] = {0x21, 0x629080842},
    [SIM_PEER] = {0x25, 0x103629090042},
    [SIM_PEER_MODIFIED] = {0x05, 0x103629810042},
    [SIM_DRAM] = {0x23, 0x1a29081042},
};
// Up to Zen 3, which never says "modified".
static const struct source sources_zen3[] = {
    [SIM_L1] = {0, 0x229080142},
    [SIM_L2] = {0, 0x429080442},
    [SIM_L3] = {0x22, 0x81629088842},
    [SIM_PEER] = {0x24, 0x103629090042},
    [SIM_PEER_MODIFIED] = {0x04, 0x103629090042},
    [SIM_DRAM] = {0x23, 0x1a29081042},
};
static const struct source source_remote_dram = {0x33, 0x103a29082042};
#define STORE_L1 0x229080144ull
#define STORE_L2 0x429080444ull
#define STORE_UNKNOWN 0x1e29080024ull  // a store that missed L2 does not say where it went

static struct sim_pmu sim_ibs;

static u64 config_mask(void) {
  u64 mask = CONFIG_MAX_COUNT;

  if (ibs_caps & CAP_OPCNT) mask |= CONFIG_CNT_CTL;
  if (ibs_caps & CAP_OPCNTEXT) mask |= CONFIG_MAX_COUNT_EXT;
  if (ibs_caps & CAP_ZEN4) mask |= CONFIG_L3_MISS_ONLY;
  return mask;
}

static bool has_ldlat(void) { return ibs_kernel > 612 && (ibs_caps & CAP_OPLDLAT); }

static u64 ldlat_of(const struct perf_event *event) {
  return has_ldlat() ? event->attr.config1 & CONFIG1_LDLAT : 0;
}

static u64 min_period(void) { return ibs_kernel > 612 ? 0x90 : 0x10; }

static bool other_of_group_is_ours(struct perf_event *event) {
  struct perf_event *leader = event->group_leader, *sibling;

  if (leader == event) return false;
  if (leader->pmu == event->pmu) return true;
  for_each_sibling_event(sibling, leader) if (sibling->pmu == event->pmu) return true;
  return false;
}

// Up to 6.12 PERF_PMU_CAP_NO_EXCLUDE makes the perf core refuse all of these.
static int check_exclusions(const struct perf_event_attr *attr) {
  if (ibs_kernel <= 612) return 0;
  if (attr->exclude_host || attr->exclude_guest || attr->exclude_idle) return -EINVAL;
  if (!attr->exclude_user && !attr->exclude_kernel && !attr->exclude_hv) return 0;
  return (attr->config2 & CONFIG2_SWFILT) || (ibs_caps & CAP_BIT63_FILTER) ? 0 : -EINVAL;
}

static int check_period(struct perf_event *event, u64 period) {
  return (period & 0xf) || period < min_period() ? -EINVAL : 0;
}

// The period in `config`, in the units of the counter's register, when there is no other.
static u64 period_of_config(u64 config) {
  return (config & CONFIG_MAX_COUNT) << 4 | (config & CONFIG_MAX_COUNT_EXT);
}

static int set_period(struct perf_event *event) {
  struct perf_event_attr *attr = &event->attr;
  u64 in_config = period_of_config(attr->config), period = attr->sample_period;

  if (attr->freq) {
    event->hw.sample_period = min_period();
    return in_config ? -EINVAL : 0;
  }
  if (period && in_config) return -EINVAL;
  if (!period) {
    period = in_config;
    attr->sample_period = period;
  } else if (ibs_kernel <= 612) {
    if (period & 0xf) return -EINVAL;
  } else {
    period &= ~0xfull;
  }
  event->hw.sample_period = period;
  event->hw.last_period = period;
  return period < min_period() ? -EINVAL : 0;
}

static int check(struct perf_event *event) {
  struct perf_event_attr *attr = &event->attr;
  u64 ldlat = ldlat_of(event);
  int error = check_exclusions(attr);

  if (error) return error;
  if (has_branch_stack(event) && ibs_kernel >= 612) return -EOPNOTSUPP;
  if (attr->config & ~config_mask()) return -EINVAL;
  if (ibs_kernel > 612) {
    if (attr->config1 & ~(has_ldlat() ? CONFIG1_LDLAT : 0)) return -EINVAL;
    if (attr->config2 & ~CONFIG2_SWFILT) return -EINVAL;
    if (ldlat && (ldlat < 128 || ldlat > 2048)) return -EINVAL;
  }
  if (other_of_group_is_ours(event)) return -EINVAL;
  return set_period(event);
}

// IBS tags whatever micro-op comes, with an access or without.
static bool wants(const struct perf_event *event, const struct sim_op *op) { return true; }

static struct source source_of(const struct sim_access *access) {
  const struct sim_op *op = &access->op;
  struct source source = (ibs_caps & CAP_ZEN4 ? sources_zen4 : sources_zen3)[access->level];

  if (access->level == SIM_DRAM && access->remote) source = source_remote_dram;
  if (!op->load)  // also of a read-modify-write the load is told
    source.load = access->level == SIM_L1   ? STORE_L1
                  : access->level == SIM_L2 ? STORE_L2
                                            : STORE_UNKNOWN;
  if (op->locked) source.load ^= LOCK_NA | LOCKED;
  return source;
}

static u64 data_source_of(const struct sim_access *access) {
  u64 value = access->op.memory ? source_of(access).load : NOT_AVAILABLE;

  return ibs_kernel <= 601 ? value & FIELDS_OF_601 : value;
}

// IBS_OP_DATA3 (perf_abi 2.6).
static u64 data3_of(const struct sim_access *access) {
  const struct sim_op *op = &access->op;
  bool miss = access->level > SIM_L1;
  u64 value = 0;

  if (!op->memory) return 0;
  value |= op->load ? BIT_ULL(0) : 0;
  value |= op->store ? BIT_ULL(1) : 0;
  value |= access->huge ? BIT_ULL(4) : 0;  // hit in the first TLB, 2 MiB; Zen 5: the size's number
  value |= miss ? BIT_ULL(7) : 0;
  value |= op->locked ? BIT_ULL(15) : 0;
  value |= BIT_ULL(17);                       // DcLinAddrValid
  value |= access->mapped ? BIT_ULL(18) : 0;  // DcPhyAddrValid
  value |= access->level > SIM_L2 ? BIT_ULL(20) : 0;
  value |= (u64)(op->size ? ilog2(op->size) + 1 : 0) << 22;
  if (op->load && miss) value |= (u64)access->latency << 32;
  return value;
}

static void fill_raw(const struct sim_event *sim, const struct sim_access *access,
                     struct sim_raw *raw) {
  const struct perf_event *event = sim->event;
  u64 period = event->hw.last_period;
  bool hide_physical = ibs_kernel > 612 && !sim->may_see_physical;

  raw->caps = ibs_caps;
  raw->registers[0] = (period >> 4 & CONFIG_MAX_COUNT) | (period & CONFIG_MAX_COUNT_EXT) |
                      (event->attr.config & (CONFIG_CNT_CTL | CONFIG_L3_MISS_ONLY)) | BIT_ULL(17) |
                      BIT_ULL(18);  // enabled, valid
  raw->registers[1] = access->op.ip;
  raw->registers[2] =
      (u64)(access->latency + 20) << 16 | 10;  // tagged to retired, completed to retired
  raw->registers[3] = access->op.memory ? source_of(access).data2 : 0;
  raw->registers[4] = data3_of(access);
  raw->registers[5] = access->op.addr;
  raw->registers[6] = hide_physical ? 0 : access->phys;
}

static void save_raw(const struct sim_event *sim, struct perf_sample_data *data,
                     struct perf_raw_record *record, struct sim_raw *raw) {
  size_t registers = 7 + !!(ibs_caps & CAP_BRNTRGT) + !!(ibs_caps & CAP_OPDATA4);

  record->frag.size = sizeof(raw->caps) + registers * sizeof(raw->registers[0]);
  record->frag.data = raw;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
  perf_sample_save_raw_data(data, sim->event, record);
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
  perf_sample_save_raw_data(data, record);
#else
  data->raw = record;
  data->sample_flags |= PERF_SAMPLE_RAW;
#endif
}

// ldlat and l3missonly: what the hardware or the driver leaves out.
static bool is_filtered(const struct perf_event *event, const struct sim_access *access) {
  u64 ldlat = ldlat_of(event);

  if (ldlat && !(access->op.load && access->level > SIM_L1 && access->latency > ldlat)) return true;
  return (event->attr.config & CONFIG_L3_MISS_ONLY || ldlat) && access->level <= SIM_L3;
}

static bool describe(const struct sim_event *sim, const struct sim_access *access,
                     struct perf_sample_data *data, struct perf_raw_record *record,
                     struct sim_raw *raw) {
  u64 type = sim->event->attr.sample_type;
  bool has_latency = access->op.load && access->level > SIM_L1;

  if (is_filtered(sim->event, access)) return false;
  data->addr = access->op.addr;
  data->data_src.val = data_source_of(access);
  data->sample_flags |= PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC;
  data->weight.full = 0;
  if (has_latency && (type & PERF_SAMPLE_WEIGHT)) data->weight.full = access->latency;
  if (has_latency && (type & PERF_SAMPLE_WEIGHT_STRUCT)) {
    data->weight.var1_dw = access->latency;
    data->weight.var2_w = access->latency + 20;
  }
  data->sample_flags |= type & PERF_SAMPLE_WEIGHT_TYPE;
  if (access->mapped && (type & PERF_SAMPLE_PHYS_ADDR)) {
    data->phys_addr = access->phys;
    data->sample_flags |= PERF_SAMPLE_PHYS_ADDR;
  }
  if (type & PERF_SAMPLE_RAW) {
    fill_raw(sim, access, raw);
    save_raw(sim, data, record, raw);
  }
  return true;
}

PMU_FORMAT_ATTR(cnt_ctl, "config:19");
PMU_FORMAT_ATTR(l3missonly, "config:16");
PMU_FORMAT_ATTR(ldlat, "config1:0-11");
PMU_FORMAT_ATTR(swfilt, "config2:0");

static struct attribute *formats[] = {&format_attr_cnt_ctl.attr, &format_attr_l3missonly.attr,
                                      &format_attr_ldlat.attr, &format_attr_swfilt.attr, NULL};

static umode_t format_visible(struct kobject *kobj, struct attribute *attr, int index) {
  bool visible = true;

  if (attr == &format_attr_cnt_ctl.attr) visible = ibs_caps & CAP_OPCNT;
  if (attr == &format_attr_l3missonly.attr) visible = ibs_caps & CAP_ZEN4;
  if (attr == &format_attr_ldlat.attr) visible = has_ldlat();
  if (attr == &format_attr_swfilt.attr) visible = ibs_kernel > 612;
  return visible ? attr->mode : 0;
}

static ssize_t one_show(struct device *dev, struct device_attribute *attr, char *page) {
  return sysfs_emit(page, "1\n");
}
static struct device_attribute caps_zen4 = __ATTR(zen4_ibs_extensions, 0444, one_show, NULL);
static struct device_attribute caps_ldlat = __ATTR(ldlat, 0444, one_show, NULL);
static struct attribute *caps[] = {&caps_zen4.attr, &caps_ldlat.attr, NULL};

static umode_t cap_visible(struct kobject *kobj, struct attribute *attr, int index) {
  bool visible = attr == &caps_ldlat.attr ? has_ldlat() : ibs_caps & CAP_ZEN4;

  return visible ? attr->mode : 0;
}

static const struct attribute_group format_group = {
    .name = "format", .attrs = formats, .is_visible = format_visible};
static const struct attribute_group caps_group = {
    .name = "caps", .attrs = caps, .is_visible = cap_visible};
static const struct attribute_group *groups[] = {&format_group, &caps_group, NULL};

int sim_ibs_register(void) {
  if (!ibs) return 0;
  sim_ibs.counters = 1;
  sim_ibs.check = check;
  sim_ibs.wants = wants;
  sim_ibs.describe = describe;
  sim_ibs.pmu.attr_groups = groups;
  // Before 6.2 IBS is no PMU of threads: events of a thread are refused by the perf core.
  sim_ibs.pmu.task_ctx_nr = ibs_kernel < 602 ? perf_invalid_context : perf_hw_context;
  if (ibs_kernel <= 612) sim_ibs.pmu.capabilities = PERF_PMU_CAP_NO_EXCLUDE;
  if (ibs_kernel > 612) sim_ibs.pmu.check_period = check_period;
  sim_pmu_init(&sim_ibs);
  return perf_pmu_register(&sim_ibs.pmu, "ibs_op", -1);
}

void sim_ibs_unregister(void) {
  if (ibs) perf_pmu_unregister(&sim_ibs.pmu);
}

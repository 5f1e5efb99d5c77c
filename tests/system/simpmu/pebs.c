// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
// "cpu" as the Intel driver presents processors with PEBS: mem-loads and mem-stores, their errors
// (perf_abi 3.2), data sources (3.4) and weights (3.5). Other events of the PMU are not simulated
// and refused with ENOENT.
#include <linux/device.h>
#include <linux/module.h>
#include <linux/string.h>

#include "simpmu.h"

static bool pebs = true;
module_param(pebs, bool, 0444);
MODULE_PARM_DESC(pebs, "register cpu");
static char *pebs_model = "skx";
module_param(pebs_model, charp, 0444);
MODULE_PARM_DESC(pebs_model, "skx, icx, spr or gnr");
static int max_precise = 3;
module_param(max_precise, int, 0444);
MODULE_PARM_DESC(max_precise, "largest precise_ip; 0: no PEBS, as on virtual machines");

// event | umask << 8 (perf_abi 3.1)
#define MEM_LOADS 0x1cd
#define MEM_LOADS_AUX 0x8203
#define MEM_STORES_SKX 0x82d0
#define MEM_STORES_SPR 0x2cd

#define OP_MASK 0x1full
#define OP_STORE 4ull
#define LOCKED (2ull << 24)
#define NOT_AVAILABLE 0x1e05080021ull
#define MIN_PERIOD_GOLDEN_COVE 128

static bool golden_cove;  // spr, gnr: stores with latency, three weights
static bool wants_aux;    // spr: mem-loads only beside mem-loads-aux
static struct sim_pmu sim_pebs;

// What the driver makes of the hardware's encodings 1, 3, 4, c, d, a for a load on servers since
// Skylake. Rows of the recorded tables of perf_abi 3.4.
static const u64 loads[] = {
    [SIM_L1] = 0x10268100142,
    [SIM_L2] = 0x10468100442,
    [SIM_L3] = 0x10668100842,
    [SIM_PEER] = 0x17668000042,
    [SIM_PEER_MODIFIED] = 0x13668800042,
    [SIM_DRAM] = 0x11a68201042,
};
#define LOAD_REMOTE_DRAM 0x13a68100042ull  // encoding b
// Before Golden Cove a store tells only whether it hit L1.
#define STORE_HIT 0x1e05080144ull
#define STORE_MISS 0x1e05080184ull

static u64 stores_config(void) { return golden_cove ? MEM_STORES_SPR : MEM_STORES_SKX; }

static bool is_stores(const struct perf_event *event) {
  return event->attr.config == stores_config();
}

static bool group_has_aux(struct perf_event *event) {
  struct perf_event *leader = event->group_leader, *sibling;

  if (leader == event) return false;
  if (leader->pmu == event->pmu && leader->attr.config == MEM_LOADS_AUX) return true;
  for_each_sibling_event(sibling, leader) {
    if (sibling->pmu == event->pmu && sibling->attr.config == MEM_LOADS_AUX) return true;
  }
  return false;
}

static int check_loads(struct perf_event *event) {
  const struct perf_event_attr *attr = &event->attr;

  if (attr->config1 & ~0xffffull) return -EINVAL;  // no such bits in the threshold's register
  if (wants_aux && (attr->sample_type & PERF_SAMPLE_DATA_SRC) && !group_has_aux(event))
    return -ENODATA;
  return 0;
}

static int check(struct perf_event *event) {
  const struct perf_event_attr *attr = &event->attr;
  bool is_aux = wants_aux && attr->config == MEM_LOADS_AUX;

  if (attr->config != MEM_LOADS && !is_stores(event) && !is_aux) return -ENOENT;
  if (has_branch_stack(event)) return -EOPNOTSUPP;
  if (attr->precise_ip) {
    if (attr->precise_ip > max_precise) return -EOPNOTSUPP;
    if (!is_sampling_event(event)) return -EINVAL;
  }
  if (golden_cove && attr->precise_ip == 3 && !attr->freq &&
      attr->sample_period < MIN_PERIOD_GOLDEN_COVE)
    return -EINVAL;
  return attr->config == MEM_LOADS ? check_loads(event) : 0;
}

static bool wants(const struct perf_event *event, const struct sim_op *op) {
  if (!event->attr.precise_ip) return true;  // any: the sample won't tell
  return is_stores(event) ? op->store : op->load;
}

static u64 data_source_of(bool store, const struct sim_access *access) {
  u64 value = loads[access->level];

  if (store && !golden_cove) return access->level == SIM_L1 ? STORE_HIT : STORE_MISS;
  if (access->level == SIM_DRAM && access->remote) value = LOAD_REMOTE_DRAM;
  if (access->op.locked) value |= LOCKED;
  return store ? (value & ~OP_MASK) | OP_STORE : value;
}

static void set_weight(const struct perf_event *event, unsigned int latency,
                       struct perf_sample_data *data) {
  u64 type = event->attr.sample_type & PERF_SAMPLE_WEIGHT_TYPE;

  data->weight.full = 0;
  if (type & PERF_SAMPLE_WEIGHT) {
    data->weight.full = latency;
  } else {
    data->weight.var1_dw = latency;
    data->weight.var2_w = golden_cove ? latency + 20 : 0;  // of the instruction
    data->weight.var3_w = golden_cove ? 5 : 0;             // until it retired
  }
  data->sample_flags |= type;
}

static bool describe(const struct sim_event *sim, const struct sim_access *access,
                     struct perf_sample_data *data, struct perf_raw_record *record,
                     struct sim_raw *raw) {
  const struct perf_event *event = sim->event;
  bool store = is_stores(event);
  u64 threshold = max_t(u64, event->attr.config1 & 0xffff, 3);

  data->data_src.val = NOT_AVAILABLE;
  data->sample_flags |= PERF_SAMPLE_DATA_SRC;
  if (!event->attr.precise_ip) return true;
  // In the kernel there is nothing to tell: PEBS would have recorded one of the kernel's accesses.
  if (!access->op.memory) return false;
  if (!store && access->latency < threshold) return false;
  data->addr = access->op.addr;
  data->sample_flags |= PERF_SAMPLE_ADDR;
  data->data_src.val = data_source_of(store, access);
  set_weight(event, store && !golden_cove ? 0 : access->latency, data);
  return true;
}

PMU_FORMAT_ATTR(event, "config:0-7");
PMU_FORMAT_ATTR(umask, "config:8-15");
PMU_FORMAT_ATTR(ldlat, "config1:0-15");
static struct attribute *formats[] = {&format_attr_event.attr, &format_attr_umask.attr,
                                      &format_attr_ldlat.attr, NULL};

// The names hold a minus.
// clang-format off
PMU_EVENT_ATTR_STRING(mem-loads, event_loads, "event=0xcd,umask=0x1,ldlat=3");
PMU_EVENT_ATTR_STRING(mem-loads-aux, event_aux, "event=0x03,umask=0x82");
PMU_EVENT_ATTR_STRING(mem-stores, event_stores_skx, "event=0xd0,umask=0x82");
PMU_EVENT_ATTR_STRING(mem-stores, event_stores_spr, "event=0xcd,umask=0x2");
// clang-format on
// Only as many as the model has; set at registration.
static struct attribute *events[4];

static ssize_t max_precise_show(struct device *dev, struct device_attribute *attr, char *page) {
  return sysfs_emit(page, "%d\n", max_precise);
}
static DEVICE_ATTR_RO(max_precise);
static struct attribute *caps[] = {&dev_attr_max_precise.attr, NULL};

static const struct attribute_group format_group = {.name = "format", .attrs = formats};
static const struct attribute_group event_group = {.name = "events", .attrs = events};
static const struct attribute_group caps_group = {.name = "caps", .attrs = caps};
static const struct attribute_group *groups[] = {&format_group, &event_group, &caps_group, NULL};

int sim_pebs_register(void) {
  int count = 0;

  if (!pebs) return 0;
  wants_aux = !strcmp(pebs_model, "spr");
  golden_cove = wants_aux || !strcmp(pebs_model, "gnr");
  if (!golden_cove && strcmp(pebs_model, "skx") && strcmp(pebs_model, "icx")) return -EINVAL;
  if (max_precise > 0) {
    events[count++] = &event_loads.attr.attr;
    events[count++] = golden_cove ? &event_stores_spr.attr.attr : &event_stores_skx.attr.attr;
    if (wants_aux) events[count++] = &event_aux.attr.attr;
  }
  sim_pebs.counters = 4;
  sim_pebs.check = check;
  sim_pebs.wants = wants;
  sim_pebs.describe = describe;
  sim_pebs.pmu.attr_groups = groups;
  sim_pebs.pmu.task_ctx_nr = perf_hw_context;
  sim_pmu_init(&sim_pebs);
  return perf_pmu_register(&sim_pebs.pmu, "cpu", PERF_TYPE_RAW);
}

void sim_pebs_unregister(void) {
  if (pebs) perf_pmu_unregister(&sim_pebs.pmu);
}

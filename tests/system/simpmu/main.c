// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
// Loading of the simulated PMUs; what simpmu is: simpmu.h.
#include <linux/kprobes.h>
#include <linux/module.h>

#include "simpmu.h"

// 1: events open, but are never put on a counter (time_running stays 0), as when another user has
// them all. 2: they run and never overflow, as on virtual machines that lack PEBS.
int sim_silent;
module_param_named(silent, sim_silent, int, 0644);
MODULE_PARM_DESC(silent, "1: events never run; 2: they run and never sample");

unsigned long sim_ticks, sim_samples, sim_given_up;
module_param_named(ticks, sim_ticks, ulong, 0444);
module_param_named(samples, sim_samples, ulong, 0444);
module_param_named(given_up, sim_given_up, ulong, 0444);

struct sim_kernel sim_kernel;

// kallsyms_lookup_name is not exported either, but a probe can be put on it.
static int find_kernel_functions(void) {
  struct kprobe probe = {.symbol_name = "kallsyms_lookup_name"};
  unsigned long (*lookup)(const char *name);
  int error = register_kprobe(&probe);

  if (error) return error;
  lookup = (void *)probe.addr;
  unregister_kprobe(&probe);
  sim_kernel.perf_event_overflow = (void *)lookup("perf_event_overflow");
  sim_kernel.insn_decode = (void *)lookup("insn_decode");
  sim_kernel.insn_get_addr_ref = (void *)lookup("insn_get_addr_ref");
  sim_kernel.insn_fetch_from_user_inatomic = (void *)lookup("insn_fetch_from_user_inatomic");
  if (!sim_kernel.perf_event_overflow || !sim_kernel.insn_decode || !sim_kernel.insn_get_addr_ref ||
      !sim_kernel.insn_fetch_from_user_inatomic)
    return -ENOENT;
  return 0;
}

// There is no way to unload it: up to 6.1 contexts of threads keep a pointer to the PMU that made
// them, long after its last event (ctx->pmu).
static int __init simpmu_init(void) {
  int error = find_kernel_functions();

  if (error) return error;
  sim_seed();
  error = sim_step_register();
  if (error) return error;
  error = sim_ibs_register();
  if (error) goto no_ibs;
  error = sim_pebs_register();
  if (error) goto no_pebs;
  error = sim_spe_register();
  if (error) goto no_spe;
  return 0;

no_spe:
  sim_pebs_unregister();
no_pebs:
  sim_ibs_unregister();
no_ibs:
  sim_step_unregister();
  return error;
}

module_init(simpmu_init);
MODULE_DESCRIPTION("Simulated memory-sampling PMUs");
MODULE_LICENSE("GPL");

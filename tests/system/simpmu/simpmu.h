// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
//
// simpmu: a simulated processor PMU that samples memory accesses, for guests without any.
//
// It registers "ibs_op" (AMD IBS), "cpu" (Intel PEBS: mem-loads, mem-stores) and "arm_spe_0" (Arm
// SPE). What it delivers goes through the kernel's own perf core, rings and AUX areas; instruction,
// data address, registers, physical address and the NUMA nodes of CPU and page are real. Invented
// are the level of the memory hierarchy that served an access (a draw, see machine.c) and its
// latency (from the distance of the nodes).
//
//   pmu.c      a timer stands for the counter: each period it interrupts the running thread
//   step.c     the thread is single-stepped from there to the instruction that is sampled
//   operand.c  which memory an instruction accesses
//   machine.c  where its page lies, which level served it, how long that took
//   ibs.c, pebs.c, spe.c   what each PMU refuses, and how it tells of an access
//   main.c     registering
//
// Facts about hardware and drivers: perf_abi 2 (IBS), 3 (PEBS); sections are named where they are
// used. What is not simulated: real caches, skid, prefetches, counters other than these events.
#ifndef SIMPMU_H
#define SIMPMU_H

#include <linux/hrtimer.h>
#include <linux/perf_event.h>
#include <linux/version.h>

#include <asm/insn.h>

// One instruction that is about to execute.
struct sim_op {
  unsigned long ip;
  unsigned long addr;  // of its memory operand, where `memory`
  unsigned int size;   // of the operand, in bytes
  bool memory;
  bool load;
  bool store;
  bool locked;
};

enum sim_level { SIM_L1, SIM_L2, SIM_L3, SIM_PEER, SIM_PEER_MODIFIED, SIM_DRAM };

// What the simulated machine made of an access that has been executed.
struct sim_access {
  struct sim_op op;
  bool mapped;  // page_node and phys are known; not so for pages without a struct page (vvar)
  int page_node;
  bool huge;  // its page has 2 MiB
  u64 phys;
  bool remote;  // what the data source says; differs from the nodes where the draw says "wrong"
  enum sim_level level;
  unsigned int latency;  // cycles from dispatch to data
};

// What a PMU adds to a sample; the rest is the kernel's.
struct sim_raw {
  u32 caps;
  u64 registers[9];
} __packed;

struct sim_event {
  struct perf_event *event;
  struct hrtimer timer;
  ktime_t left;              // of the period when it was stopped; 0: begin a new one
  bool may_see_physical;     // the opener's rights: perf_abi 2.6
  struct task_struct *task;  // being stepped for this event; NULL: none
  unsigned int skip;         // instructions to step over before one is chosen
  unsigned int tries;
  bool chosen;  // `op` is executing; it is sampled at the next step
  struct sim_op op;
};

struct sim_pmu {
  struct pmu pmu;
  unsigned int counters;  // events of this PMU that can run on a CPU at one time
  int (*check)(struct perf_event *event);
  // Whether the event samples this instruction; asked before it executes.
  bool (*wants)(const struct perf_event *event, const struct sim_op *op);
  // Describes the access in `data`; false: not one that this event samples. `raw` lives as long as
  // `data`.
  bool (*describe)(const struct sim_event *sim, const struct sim_access *access,
                   struct perf_sample_data *data, struct perf_raw_record *record,
                   struct sim_raw *raw);
  // A PMU that writes its samples into an AUX area has these three instead, called with interrupts
  // off on the event's CPU. begin: false when it can't run; write: as describe.
  bool (*begin)(struct perf_event *event);
  void (*end)(struct perf_event *event);
  bool (*write)(struct sim_event *sim, const struct sim_access *access);
};

static inline struct sim_pmu *sim_pmu_of(const struct perf_event *event) {
  return container_of(event->pmu, struct sim_pmu, pmu);
}

// The kernel's, but not exported to modules.
struct sim_kernel {
  int (*perf_event_overflow)(struct perf_event *, struct perf_sample_data *, struct pt_regs *);
  int (*insn_decode)(struct insn *, const void *, int, enum insn_mode);
  void __user *(*insn_get_addr_ref)(struct insn *, struct pt_regs *);
  int (*insn_fetch_from_user_inatomic)(struct pt_regs *, unsigned char *);
};
extern struct sim_kernel sim_kernel;

// Parameters and counters of the module; see main.c for what they mean.
extern int sim_silent;
extern unsigned long sim_ticks, sim_samples, sim_given_up;

// pmu.c
void sim_pmu_init(struct sim_pmu *sim);
void sim_stop(struct perf_event *event, int flags);
// Calls `visit` for each event that runs on this CPU; interrupts are off.
void sim_for_each_running(void (*visit)(struct sim_event *sim, struct pt_regs *regs),
                          struct pt_regs *regs);

// step.c: called with interrupts off.
void sim_step_begin(struct sim_event *sim, struct pt_regs *regs);
int sim_step_register(void);
void sim_step_unregister(void);
// Writes a sample of `access`; false: the event does not sample such an access.
bool sim_emit(struct sim_event *sim, const struct sim_access *access, struct pt_regs *regs);

// operand.c: false when the instruction can't be read, or must not be stepped over.
bool sim_decode(struct pt_regs *regs, struct sim_op *op);

// machine.c
void sim_execute(const struct sim_op *op, struct sim_access *access);
u32 sim_random(u32 below);
void sim_seed(void);

// ibs.c, pebs.c, spe.c: registers the PMU where the parameters ask for it.
int sim_ibs_register(void);
void sim_ibs_unregister(void);
int sim_pebs_register(void);
void sim_pebs_unregister(void);
int sim_spe_register(void);

#endif  // SIMPMU_H

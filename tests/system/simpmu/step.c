// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
// From the interrupted instruction to the one that is sampled, by single steps.
//
// A timer interrupts an emulated CPU only at the start of a translated block, so the instruction at
// the interrupt is no fair choice. From there the trap flag is set for a random number of steps;
// then the next instruction that the event wants is chosen, allowed to execute, and sampled at the
// step after it: its page is there even when it was the first to touch it, and its address was
// computed from the registers before it.
//
// The trap flag must not outlive us: an instruction that would save it (pushf, a system call) or a
// signal that takes it away ends the stepping, and a step that nobody waits for is
// swallowed.
#include <linux/kdebug.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/sched.h>

#include <asm/debugreg.h>
#include <asm/perf_event.h>
#include <asm/ptrace.h>

#include "simpmu.h"

#define MAX_TRIES 256

static int steps = 12;
module_param(steps, int, 0644);
MODULE_PARM_DESC(steps, "at most so many instructions are stepped over before one is chosen");

bool sim_emit(struct sim_event *sim, const struct sim_access *access, struct pt_regs *regs) {
  struct perf_event *event = sim->event;
  struct perf_raw_record record = {};
  struct perf_sample_data data;
  struct pt_regs exact = *regs;
  struct sim_raw raw = {};

  if (sim_pmu_of(event)->write) return sim_pmu_of(event)->write(sim, access);
  perf_sample_data_init(&data, 0, event->hw.last_period);
  if (!sim_pmu_of(event)->describe(sim, access, &data, &record, &raw)) return false;
  // precise_ip 1 gives an address without the promise that the instruction is exact (perf_abi 3.2).
  if (event->attr.precise_ip != 1) exact.flags |= PERF_EFLAGS_EXACT;
  exact.ip = access->op.ip;
  sim_samples++;
  local64_add(event->hw.sample_period, &event->count);
  if (sim_kernel.perf_event_overflow(event, &data, &exact)) sim_stop(event, 0);
  return true;
}

// One step of the thread was taken; regs->ip is the next instruction.
static void step_on(struct sim_event *sim, struct pt_regs *regs) {
  struct sim_access access;
  struct sim_op op;

  if (sim->task != current) return;
  if (sim->chosen) {
    sim->chosen = false;
    sim_execute(&sim->op, &access);
    if (sim_emit(sim, &access, regs)) {
      sim->task = NULL;
      return;
    }
  }
  if (++sim->tries > MAX_TRIES || !sim_decode(regs, &op)) {
    sim->task = NULL;
    sim_given_up++;
    return;
  }
  if (sim->skip > 0) {
    sim->skip--;
  } else if (sim_pmu_of(sim->event)->wants(sim->event, &op)) {
    sim->op = op;
    sim->chosen = true;
  }
}

// Whatever the events of this CPU are still stepping for.
static void keep_stepping(struct sim_event *sim, struct pt_regs *regs) {
  if (sim->task == current) regs->flags |= X86_EFLAGS_TF;
}

void sim_step_begin(struct sim_event *sim, struct pt_regs *regs) {
  if (!user_64bit_mode(regs) || test_thread_flag(TIF_SINGLESTEP)) return;
  if (sim->task == current && (regs->flags & X86_EFLAGS_TF)) return;  // the last one is not done
  sim->task = current;
  sim->skip = steps > 0 ? sim_random(steps) : 0;
  sim->tries = 0;
  sim->chosen = false;
  step_on(sim, regs);
  keep_stepping(sim, regs);
}

static int on_debug_trap(struct notifier_block *block, unsigned long what, void *data) {
  struct die_args *args = data;
  struct pt_regs *regs = args->regs;
  unsigned long *dr6 = (unsigned long *)args->err;

  if (what != DIE_DEBUG || !user_mode(regs) || !(*dr6 & DR_STEP)) return NOTIFY_DONE;
  if (test_thread_flag(TIF_SINGLESTEP)) return NOTIFY_DONE;  // a debugger's step
  sim_for_each_running(step_on, regs);
  regs->flags &= ~X86_EFLAGS_TF;
  sim_for_each_running(keep_stepping, regs);
  *dr6 &= ~DR_STEP;
  current->thread.virtual_dr6 &= ~DR_STEP;
  return *dr6 & DR_TRAP_BITS ? NOTIFY_DONE : NOTIFY_STOP;
}

static struct notifier_block debug_trap = {.notifier_call = on_debug_trap, .priority = INT_MAX};

int sim_step_register(void) { return register_die_notifier(&debug_trap); }

void sim_step_unregister(void) { unregister_die_notifier(&debug_trap); }

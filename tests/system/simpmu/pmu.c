// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
// The life of an event: opened, put on a CPU's counter, overflowing, taken off, closed.
//
// A timer stands for the counter: one unit of the period is `ns_per_op` nanoseconds in which the
// event runs. Like a counter it goes on where it stood when the thread comes back.#include
// <linux/module.h>
#include <linux/slab.h>

#include <asm/irq_regs.h>
#include <asm/ptrace.h>

#include "simpmu.h"

#define MAX_RUNNING 16

// An emulated CPU gets nothing done when it is interrupted more often.
#define MIN_INTERVAL_NS 20000

static int ns_per_op = 1;
module_param(ns_per_op, int, 0644);
MODULE_PARM_DESC(ns_per_op, "nanoseconds for each unit of the period");

struct running {
  struct sim_event *events[MAX_RUNNING];
};
static DEFINE_PER_CPU(struct running, running);

static struct sim_event *sim_event_of(const struct perf_event *event) { return event->pmu_private; }

void sim_for_each_running(void (*visit)(struct sim_event *sim, struct pt_regs *regs),
                          struct pt_regs *regs) {
  struct running *here = this_cpu_ptr(&running);
  int i;

  for (i = 0; i < MAX_RUNNING; i++)
    if (here->events[i]) visit(here->events[i], regs);
}

static ktime_t interval_of(const struct perf_event *event) {
  u64 ns = event->hw.sample_period * ns_per_op;

  return ns_to_ktime(max_t(u64, ns, MIN_INTERVAL_NS));
}

// The counter overflowed. In the kernel only IBS takes samples here, which hold no access of the
// program's; its describe() decides.
static enum hrtimer_restart overflow(struct hrtimer *timer) {
  struct sim_event *sim = container_of(timer, struct sim_event, timer);
  struct pt_regs *regs = get_irq_regs();
  struct perf_event *event = sim->event;

  if (event->hw.state & PERF_HES_STOPPED) return HRTIMER_NORESTART;
  sim_ticks++;
  if (regs && user_mode(regs)) {
    sim_step_begin(sim, regs);
  } else if (regs && !event->attr.exclude_kernel) {
    struct sim_access none = {.op.ip = regs->ip};

    sim_emit(sim, &none, regs);
  }
  if (event->hw.state & PERF_HES_STOPPED) return HRTIMER_NORESTART;  // throttled
  hrtimer_forward_now(timer, interval_of(event));
  return HRTIMER_RESTART;
}

static void sim_start(struct perf_event *event, int flags) {
  struct sim_event *sim = sim_event_of(event);
  ktime_t first = sim->left > 0 && !(flags & PERF_EF_RELOAD) ? sim->left : interval_of(event);

  event->hw.last_period = event->hw.sample_period;
  if (sim_pmu_of(event)->begin && !sim_pmu_of(event)->begin(event)) return;
  event->hw.state = 0;
  if (!is_sampling_event(event) || sim_silent) return;
  hrtimer_start(&sim->timer, first, HRTIMER_MODE_REL_PINNED_HARD);
}

void sim_stop(struct perf_event *event, int flags) {
  struct sim_event *sim = sim_event_of(event);

  if (event->hw.state & PERF_HES_STOPPED) return;
  event->hw.state |= PERF_HES_STOPPED | PERF_HES_UPTODATE;
  sim->left = hrtimer_active(&sim->timer) ? hrtimer_get_remaining(&sim->timer) : 0;
  hrtimer_try_to_cancel(&sim->timer);
  if (sim_pmu_of(event)->end) sim_pmu_of(event)->end(event);
}

static int sim_add(struct perf_event *event, int flags) {
  struct running *here = this_cpu_ptr(&running);
  unsigned int used = 0;
  int i, free = -1;

  if (sim_silent == 1) return -EAGAIN;
  for (i = 0; i < MAX_RUNNING; i++) {
    if (!here->events[i])
      free = i;
    else if (here->events[i]->event->pmu == event->pmu)
      used++;
  }
  if (free < 0 || used >= sim_pmu_of(event)->counters) return -ENOSPC;
  here->events[free] = sim_event_of(event);
  event->hw.idx = free;
  event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
  if (flags & PERF_EF_START) {
    sim_start(event, 0);
    if (event->hw.state & PERF_HES_STOPPED) {
      here->events[free] = NULL;
      return -EINVAL;
    }
  }
  perf_event_update_userpage(event);
  return 0;
}

static void sim_del(struct perf_event *event, int flags) {
  sim_stop(event, PERF_EF_UPDATE);
  this_cpu_ptr(&running)->events[event->hw.idx] = NULL;
  perf_event_update_userpage(event);
}

// The count is kept by sim_emit(), a period at a time.
static void sim_read(struct perf_event *event) {}

static void sim_destroy(struct perf_event *event) {
  struct sim_event *sim = sim_event_of(event);

  hrtimer_cancel(&sim->timer);
  kfree(sim);
}

static int sim_event_init(struct perf_event *event) {
  struct sim_event *sim;
  int error;

  if (event->attr.type != event->pmu->type) return -ENOENT;
  error = sim_pmu_of(event)->check(event);
  if (error) return error;
  sim = kzalloc(sizeof(*sim), GFP_KERNEL);
  if (!sim) return -ENOMEM;
  sim->event = event;
  sim->may_see_physical = perfmon_capable();
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
  hrtimer_setup(&sim->timer, overflow, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
#else
  hrtimer_init(&sim->timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
  sim->timer.function = overflow;
#endif
  event->pmu_private = sim;
  event->destroy = sim_destroy;
  local64_set(&event->hw.period_left, event->hw.sample_period);
  return 0;
}

void sim_pmu_init(struct sim_pmu *sim) {
  struct pmu *pmu = &sim->pmu;

  pmu->module = THIS_MODULE;
  pmu->event_init = sim_event_init;
  pmu->add = sim_add;
  pmu->del = sim_del;
  pmu->start = sim_start;
  pmu->stop = sim_stop;
  pmu->read = sim_read;
#ifdef PERF_PMU_CAP_HETEROGENEOUS_CPUS
  // Up to 6.7 only such PMUs may share the hardware context of a thread.
  pmu->capabilities |= PERF_PMU_CAP_HETEROGENEOUS_CPUS;
#endif
}

// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
// The simulated memory: the page's real node, a drawn level of the hierarchy, a latency to
// match.
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pfn.h>
#include <linux/prandom.h>
#include <linux/topology.h>
#include <linux/uaccess.h>

#include "simpmu.h"

// Of 100 accesses: how many each cache serves; main memory serves the rest.
static int l1, l2, l3;
module_param(l1, int, 0644);
module_param(l2, int, 0644);
module_param(l3, int, 0644);
// Of 100 accesses to another node's pages that get beyond L3: how many a cache over there serves,
// every second with the line modified.
static int peer;
module_param(peer, int, 0644);
// Of 100 accesses beyond L3: how many the data source tells the wrong node of.
static int wrong;
module_param(wrong, int, 0644);
static unsigned long seed = 1;
module_param(seed, ulong, 0444);

static DEFINE_PER_CPU(struct rnd_state, draws);

void sim_seed(void) {
  int cpu;

  for_each_possible_cpu(cpu) prandom_seed_state(per_cpu_ptr(&draws, cpu), seed + cpu);
}

u32 sim_random(u32 below) { return prandom_u32_state(this_cpu_ptr(&draws)) % below; }

// Where the page lies now, and whether it is huge: a huge page that is mapped in parts counts, too.
// Walks the page table without faulting and without sleeping.
static void look_up_page(struct sim_access *access) {
  struct page *page;

  pagefault_disable();
  if (get_user_pages_fast_only(access->op.addr, 1, 0, &page) == 1) {
    access->mapped = true;
    access->page_node = page_to_nid(page);
    access->huge = compound_order(compound_head(page)) >= HPAGE_PMD_ORDER;
    access->phys = PFN_PHYS(page_to_pfn(page)) + offset_in_page(access->op.addr);
    put_page(page);
  }
  pagefault_enable();
}

static enum sim_level draw_level(bool remote) {
  int draw = sim_random(100);

  if (draw < l1) return SIM_L1;
  if (draw < l1 + l2) return SIM_L2;
  if (draw < l1 + l2 + l3) return SIM_L3;
  if (!remote || sim_random(100) >= peer) return SIM_DRAM;
  return sim_random(2) ? SIM_PEER : SIM_PEER_MODIFIED;
}

// Cycles, of the order of current servers; what counts is that they rise with level and distance.
static unsigned int latency_of(enum sim_level level, unsigned int distance) {
  switch (level) {
    case SIM_L1:
      return 5;
    case SIM_L2:
      return 14 + sim_random(4);
    case SIM_L3:
      return 50 + sim_random(16);
    case SIM_PEER:
    case SIM_PEER_MODIFIED:
      return 8 * distance + sim_random(16);
    case SIM_DRAM:
      break;
  }
  return 10 * distance + sim_random(16);
}

void sim_execute(const struct sim_op *op, struct sim_access *access) {
  int cpu_node = numa_node_id();

  memset(access, 0, sizeof(*access));
  access->op = *op;
  if (!op->memory) return;
  look_up_page(access);
  if (!access->mapped) {  // the kernel's page of clocks, say: always in the cache
    access->latency = latency_of(SIM_L1, 0);
    return;
  }
  access->remote = access->page_node != cpu_node;
  access->level = draw_level(access->remote);
  access->latency = latency_of(access->level, node_distance(cpu_node, access->page_node));
  if (access->level == SIM_DRAM && sim_random(100) < wrong) access->remote = !access->remote;
}

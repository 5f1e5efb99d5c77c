// What the placement rules have done, for the profile. Calling thread: the drain thread.
#ifndef MEMAGENT_AGENT_RUNTIME_PLACEMENT_REPORT_H_
#define MEMAGENT_AGENT_RUNTIME_PLACEMENT_REPORT_H_

#include "agent/base/containers.h"
#include "agent/profile/writer.h"
#include "agent/runtime/site_counts.h"
#include "agent/runtime/stack_export.h"

namespace memagent::runtime {

class PlacementReport {
 public:
  // Adds a record for each rule to the totals under construction; nothing without rules. Looks at
  // all sites, also those that never had a block large enough to be placed: these it compares
  // itself, with what is known of the modules, since code that is unloaded can't be read.
  void Write(const SiteCounts& counts, const StackExport& stacks, profile::ProfileWriter& writer);

 private:
  int RuleOf(uint32_t site, const StackExport& stacks);

  base::HashMap<uint32_t, int> rules_of_small_;  // by site
};

}  // namespace memagent::runtime

#endif  // MEMAGENT_AGENT_RUNTIME_PLACEMENT_REPORT_H_

// What a placement rule did, in words: for `memagent run`, report and info alike.
#ifndef MEMAGENT_AGENT_PROFILE_READER_PLACEMENT_H_
#define MEMAGENT_AGENT_PROFILE_READER_PLACEMENT_H_

#include <string>

#include "agent/profile/profile.pb.h"

namespace memagent::profile {

// Whether it did all that was asked. Not so: it matched nothing, or something was refused.
bool WasApplied(const v1::AppliedPlacement& placement);

// One sentence without its full stop, names as recorded (untrusted): "S1@a.memagent=interleave
// placed 1 block, 64.0 MiB, of Make < main; ...".
std::string PlacementText(const v1::AppliedPlacement& placement);

}  // namespace memagent::profile

#endif  // MEMAGENT_AGENT_PROFILE_READER_PLACEMENT_H_

// Profile -> View: joins tables, names frames, ranks sites, computes shares.
#ifndef MEMAGENT_VIEWER_QUERY_H_
#define MEMAGENT_VIEWER_QUERY_H_

#include "agent/profile/reader.h"
#include "viewer/view.h"

namespace memagent::viewer {

struct QueryOptions {
  bool lines = true;  // look at the modules on disk; off in tests that must not depend on them
};

View BuildView(profile::Profile profile, const QueryOptions& options = {});

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_QUERY_H_

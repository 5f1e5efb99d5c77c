#include "agent/ledger/thread_state.h"

namespace memagent::ledger {

thread_local constinit ThreadState thread_state [[gnu::tls_model("initial-exec")]] = {};

}  // namespace memagent::ledger

// The rank that an MPI launcher gave this process.
#ifndef MEMAGENT_AGENT_RUNTIME_MPI_RANK_H_
#define MEMAGENT_AGENT_RUNTIME_MPI_RANK_H_

#include "agent/base/containers.h"

namespace memagent::runtime {

// From the environment the process started with; "0" when no launcher is known. Calling thread: the
// drain thread.
base::String MpiRank();

}  // namespace memagent::runtime

#endif  // MEMAGENT_AGENT_RUNTIME_MPI_RANK_H_

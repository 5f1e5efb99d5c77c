// The threads of this process as the kernel lists them, those that no hook has seen start included.
//
// Calling thread: the drain thread.
#ifndef MEMAGENT_AGENT_OS_TASK_LIST_H_
#define MEMAGENT_AGENT_OS_TASK_LIST_H_

#include <cstddef>

#include "agent/base/containers.h"
#include "agent/base/types.h"

namespace memagent::os {

// How many there are, at the cost of one system call; 0 where /proc does not say.
size_t CountTasks();

// Their ids, in the numbering of the mounted /proc, which need not be this process's (pid
// namespaces). Empty where /proc does not say.
base::Vector<Tid> ListTasks();

// CPUs that the calling thread may run on, as far as the kernel tells; at least 1.
size_t CountUsableCpus();

}  // namespace memagent::os

#endif  // MEMAGENT_AGENT_OS_TASK_LIST_H_

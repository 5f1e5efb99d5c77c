// Row P41: thousands of short threads, one after another and in crowds. What a thread cost is given
// back when it ends: the program looks at the whole process, the tables of every task included.
//
//   threads_released N      N threads, then one that works for 0.2 s
#include <dirent.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "tests/programs/pitfalls/churn.h"
#include "tests/programs/pitfalls/own_state.h"

namespace {

constexpr int kCrowd = 100;
constexpr size_t kCells = size_t{1} << 17;

[[gnu::noinline]] void* alloc_in_thread(size_t bytes) {
  return ground_truth::Kept<void>(malloc(bytes));
}
[[gnu::noinline]] volatile uint64_t* alloc_in_last() {
  return ground_truth::Kept<uint64_t>(calloc(kCells, sizeof(uint64_t)));
}

void* ShortThread(void* argument) {
  churn::Repeat(alloc_in_thread, 3, 50);
  return argument;
}

void* LastThread(void*) {
  volatile uint64_t* cells = alloc_in_last();
  const double end = ground_truth::ThreadCpuSeconds() + 0.2;
  while (ground_truth::ThreadCpuSeconds() < end) {
    for (size_t i = 0; i < kCells; ++i) cells[i] = cells[i] + 1;
  }
  return nullptr;
}

void RunThreads(int count, int at_once) {
  for (int i = 0; i < count; i += at_once) {
    std::vector<pthread_t> threads(static_cast<size_t>(at_once));
    for (pthread_t& thread : threads) {
      if (pthread_create(&thread, nullptr, ShortThread, nullptr) != 0) puts("refused");
    }
    for (pthread_t thread : threads) pthread_join(thread, nullptr);
  }
}

int EntriesOf(const std::string& folder) {
  int entries = 0;
  DIR* open = opendir(folder.c_str());
  while (const dirent* entry = open != nullptr ? readdir(open) : nullptr) {
    entries += entry->d_name[0] != '.';
  }
  if (open != nullptr) closedir(open);
  return entries;
}

// Descriptors in the tables of all tasks.
int Descriptors() {
  int descriptors = 0;
  DIR* tasks = opendir("/proc/self/task");
  while (const dirent* task = tasks != nullptr ? readdir(tasks) : nullptr) {
    if (task->d_name[0] == '.') continue;
    descriptors += EntriesOf(std::string("/proc/self/task/") + task->d_name + "/fd");
  }
  if (tasks != nullptr) closedir(tasks);
  return descriptors;
}

// The number after `name` in /proc/self/status, in KiB.
long StatusKib(const char* name) {
  long kib = 0;
  char line[256];
  FILE* file = fopen("/proc/self/status", "r");
  while (file != nullptr && fgets(line, sizeof(line), file) != nullptr) {
    if (strncmp(line, name, strlen(name)) == 0) kib = atol(line + strlen(name));
  }
  if (file != nullptr) fclose(file);
  return kib;
}

struct Held {
  int descriptors = Descriptors();
  long locked_kib = StatusKib("VmLck:") + StatusKib("VmPin:");
  long resident_kib = StatusKib("VmRSS:");
};

// The events of a thread that ended are closed a little later: waits for at most two seconds.
bool GivenBack(const Held& before) {
  Held now;
  for (int i = 0; i < 200; ++i, now = Held()) {
    if (now.descriptors <= before.descriptors + 10 && now.locked_kib <= before.locked_kib + 1024 &&
        now.resident_kib <= before.resident_kib + 32768) {
      return true;
    }
    usleep(10000);
  }
  fprintf(stderr, "descriptors %d, then %d; locked %ld KiB, then %ld; resident %ld KiB, then %ld\n",
          before.descriptors, now.descriptors, before.locked_kib, now.locked_kib,
          before.resident_kib, now.resident_kib);
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  const int count = argc > 1 ? atoi(argv[1]) : 100;
  RunThreads(2 * kCrowd, kCrowd);
  const Held before;
  RunThreads(count / 2, 1);
  RunThreads(count / 2, kCrowd);
  printf("%s\n", GivenBack(before) ? "given back" : "kept");
  pthread_t last;
  pthread_create(&last, nullptr, LastThread, nullptr);
  pthread_join(last, nullptr);
  own_state::Print();
  return 0;
}

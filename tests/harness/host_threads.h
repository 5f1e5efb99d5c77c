// Host threads of the harness: they allocate and free as the hooks would see it, each block freed
// by the thread next to the one that allocated it.
#ifndef MEMAGENT_TESTS_HARNESS_HOST_THREADS_H_
#define MEMAGENT_TESTS_HARNESS_HOST_THREADS_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "agent/ledger/spsc_ring.h"
#include "agent/ledger/thread_record.h"

namespace memagent::harness {

// Records of threads that ended: what the drain thread learns from the kernel, here told.
class Graveyard {
 public:
  void Add(ledger::ThreadRecord* record);
  std::vector<ledger::ThreadRecord*> TakeAll();

 private:
  std::mutex mutex_;
  std::vector<ledger::ThreadRecord*> records_;
};

// What the hosts did, for exact comparison.
struct Truth {
  std::atomic<uint64_t> allocations{0};
  std::atomic<uint64_t> bytes{0};
};

// Blocks on their way to the thread that frees them.
class Mailbox {
 public:
  Mailbox() { ring_.Attach(storage_.data()); }
  bool Send(void* block) { return ring_.Push(block); }
  template <typename Free>
  void Empty(Free release) {
    ring_.PopAll(release);
  }

 private:
  std::vector<void*> storage_ = std::vector<void*>(1024);
  ledger::SpscRing<void*, 1024> ring_;
};

// malloc and free with their hooks around them. The block was allocated at one of three places.
void* Allocate(uint64_t choice, Truth& truth);
void Free(void* block);
// A mapping made and removed through libc.
void MapAndUnmap();

// `count` threads in a ring, `rounds` allocations each. Blocks left in a mailbox are freed by Join.
class HostThreads {
 public:
  HostThreads(uint32_t count, uint32_t rounds, Truth& truth, Graveyard& graveyard);
  void Join();

 private:
  void Run(uint32_t index, uint32_t rounds);

  std::vector<std::unique_ptr<Mailbox>> mailboxes_;
  Truth& truth_;
  Graveyard& graveyard_;
  std::vector<std::thread> threads_;
};

}  // namespace memagent::harness

#endif  // MEMAGENT_TESTS_HARNESS_HOST_THREADS_H_

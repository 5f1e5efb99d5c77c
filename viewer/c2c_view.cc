#include "viewer/c2c_view.h"

#include "agent/decode/data_source_bits.h"

namespace memagent::viewer {
namespace {

namespace mem = decode::mem;

constexpr std::array<std::string_view, kC2cCounterCount> kNames = {
    "locks",    "store",    "st_uncache", "st_noadrs",  "st_l1hit", "st_l1miss", "st_na",
    "load",     "ld_excl",  "ld_shared",  "ld_uncache", "ld_io",    "ld_miss",   "ld_noadrs",
    "ld_fbhit", "ld_l1hit", "ld_l2hit",   "ld_llchit",  "lcl_hitm", "rmt_hitm",  "lcl_peer",
    "rmt_peer", "rmt_hit",  "lcl_dram",   "rmt_dram",   "blk_data", "blk_addr",  "noparse",
};

bool Level(uint64_t data_src, uint64_t bits) { return (mem::kLevel.Of(data_src) & bits) != 0; }
bool Snoop(uint64_t data_src, uint64_t bits) { return (mem::kSnoop.Of(data_src) & bits) != 0; }
bool Peer(uint64_t data_src) { return (mem::kSnoopX.Of(data_src) & mem::snoopx::kPeer) != 0; }

// The remote bit, where no hops say how far.
bool RemoteAtUnknownHops(uint64_t data_src) {
  return mem::kRemote.Of(data_src) != 0 && mem::kHops.Of(data_src) == mem::hops::kAbsent;
}

}  // namespace

std::string_view C2cName(C2cCounter counter) { return kNames[static_cast<size_t>(counter)]; }

void C2cView::Add(uint64_t data_src, uint64_t address) {
  const uint64_t blocked = mem::kBlocked.Of(data_src);
  if ((mem::kLock.Of(data_src) & mem::lock::kLocked) != 0) Count(C2cCounter::kLocks);
  if ((blocked & mem::blocked::kData) != 0) Count(C2cCounter::kBlockedData);
  if ((blocked & mem::blocked::kAddress) != 0) Count(C2cCounter::kBlockedAddress);
  const uint64_t op = mem::kOp.Of(data_src);
  if ((op & mem::op::kLoad) != 0) {
    Count(C2cCounter::kLoad);
    if (address == 0) return Count(C2cCounter::kLoadNoAddress);
    AddLoad(data_src);
  } else if ((op & mem::op::kStore) != 0) {
    Count(C2cCounter::kStore);
    if (address == 0) return Count(C2cCounter::kStoreNoAddress);
    AddStore(data_src);
  } else {
    Count(C2cCounter::kNotParsed);
  }
}

void C2cView::AddLoad(uint64_t data_src) {
  if (Level(data_src, mem::level::kHit)) AddLoadHit(data_src);
  AddRemoteCache(data_src);
  if (Level(data_src, mem::level::kMiss)) Count(C2cCounter::kLoadMiss);
}

void C2cView::AddLoadHit(uint64_t data_src) {
  const bool modified = Snoop(data_src, mem::snoop::kHitM);
  const C2cCounter sharing =
      Snoop(data_src, mem::snoop::kHit) ? C2cCounter::kLoadShared : C2cCounter::kLoadExclusive;
  if (Level(data_src, mem::level::kUncached)) Count(C2cCounter::kLoadUncached);
  if (Level(data_src, mem::level::kIo)) Count(C2cCounter::kLoadIo);
  if (Level(data_src, mem::level::kLfb)) Count(C2cCounter::kLoadFillBuffer);
  if (Level(data_src, mem::level::kL1)) Count(C2cCounter::kLoadL1Hit);
  if (Level(data_src, mem::level::kL2)) {
    Count(modified ? C2cCounter::kLocalHitM : C2cCounter::kLoadL2Hit);
    if (Peer(data_src)) Count(C2cCounter::kLocalPeer);
  }
  if (Level(data_src, mem::level::kL3)) {
    Count(modified ? C2cCounter::kLocalHitM : C2cCounter::kLoadL3Hit);
    if (Peer(data_src)) Count(C2cCounter::kLocalPeer);
  }
  if (Level(data_src, mem::level::kLocalRam)) {
    Count(C2cCounter::kLocalDram);
    Count(sharing);
  }
  if (Level(data_src, mem::level::kRemoteRam1 | mem::level::kRemoteRam2) ||
      RemoteAtUnknownHops(data_src)) {
    Count(C2cCounter::kRemoteDram);
    Count(sharing);
  }
}

void C2cView::AddRemoteCache(uint64_t data_src) {
  if (!Level(data_src, mem::level::kRemoteCache1 | mem::level::kRemoteCache2) &&
      !RemoteAtUnknownHops(data_src)) {
    return;
  }
  if (Snoop(data_src, mem::snoop::kHit)) {
    Count(C2cCounter::kRemoteHit);
  } else if (Snoop(data_src, mem::snoop::kHitM)) {
    Count(C2cCounter::kRemoteHitM);
  } else if (Peer(data_src)) {
    Count(C2cCounter::kRemoteHit);
    Count(C2cCounter::kRemotePeer);
  }
}

void C2cView::AddStore(uint64_t data_src) {
  if (Level(data_src, mem::level::kHit)) {
    if (Level(data_src, mem::level::kUncached)) Count(C2cCounter::kStoreUncached);
    if (Level(data_src, mem::level::kL1)) Count(C2cCounter::kStoreL1Hit);
  }
  if (Level(data_src, mem::level::kMiss) && Level(data_src, mem::level::kL1)) {
    Count(C2cCounter::kStoreL1Miss);
  }
  if (Level(data_src, mem::level::kNa)) Count(C2cCounter::kStoreNotAvailable);
}

uint64_t C2cView::LoadLlcHit() const {
  return (*this)[C2cCounter::kLoadL3Hit] + (*this)[C2cCounter::kLocalHitM];
}

uint64_t C2cView::LlcMisses() const {
  return (*this)[C2cCounter::kLocalDram] + (*this)[C2cCounter::kRemoteDram] +
         (*this)[C2cCounter::kRemoteHit] + (*this)[C2cCounter::kRemoteHitM];
}

uint64_t C2cView::TotalHitM() const {
  return (*this)[C2cCounter::kLocalHitM] + (*this)[C2cCounter::kRemoteHitM];
}

}  // namespace memagent::viewer

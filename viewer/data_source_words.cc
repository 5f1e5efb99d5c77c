#include "viewer/data_source_words.h"

#include <array>
#include <span>
#include <string_view>

#include "agent/decode/data_source_bits.h"
#include "viewer/concat.h"

namespace memagent::viewer {
namespace {

namespace mem = decode::mem;

constexpr std::string_view kNotAvailable = "N/A";

struct NamedBit {
  uint64_t bit;
  std::string_view name;
};

void AppendAlternative(std::string& out, std::string_view name) {
  if (!out.empty()) out += " or ";
  out += name;
}

// The names of all bits that are set, joined by " or ".
std::string Alternatives(std::span<const NamedBit> names, uint64_t bits) {
  std::string out;
  for (const NamedBit& named : names) {
    if ((bits & named.bit) != 0) AppendAlternative(out, named.name);
  }
  return out;
}

std::string OpWord(uint64_t bits) {
  constexpr std::array<NamedBit, 5> kNames = {{{mem::op::kNa, kNotAvailable},
                                               {mem::op::kLoad, "LOAD"},
                                               {mem::op::kStore, "STORE"},
                                               {mem::op::kPrefetch, "PFETCH"},
                                               {mem::op::kExecute, "EXEC"}}};
  for (const NamedBit& named : kNames) {
    if ((bits & named.bit) != 0) return std::string(named.name);
  }
  return "No";
}

std::string_view Outcome(uint64_t level) {
  if ((level & mem::level::kHit) != 0) return "hit";
  return (level & mem::level::kMiss) != 0 ? "miss" : "";
}

std::string NumberWords(uint64_t data_src, uint64_t level) {
  constexpr std::array<std::string_view, 16> kNumbers = {
      "",
      "L1",
      "L2",
      "L3",
      "L4",
      "L2 MHB",
      "Memory-side Cache",
      "Unknown level 7",  // Panther Cove's L0: perf 7.2 has no name for it
      "Uncached",
      "CXL",
      "I/O",
      "Any cache",
      "LFB/MAB",
      "RAM",
      "PMEM",
      kNotAvailable};
  constexpr std::array<std::string_view, 8> kHops = {
      "", "core, same node ", "node, same socket ", "socket, same board ", "board ", "", "", ""};
  return Concat(mem::kRemote.Of(data_src) != 0 ? "Remote " : "", kHops[mem::kHops.Of(data_src)],
                kNumbers[mem::kNumber.Of(data_src)], " ", Outcome(level));
}

std::string LevelWords(uint64_t data_src) {
  constexpr std::array<NamedBit, 11> kNames = {
      {{mem::level::kL1, "L1"},
       {mem::level::kLfb, "LFB/MAB"},
       {mem::level::kL2, "L2"},
       {mem::level::kL3, "L3"},
       {mem::level::kLocalRam, "Local RAM"},
       {mem::level::kRemoteRam1, "Remote RAM (1 hop)"},
       {mem::level::kRemoteRam2, "Remote RAM (2 hops)"},
       {mem::level::kRemoteCache1, "Remote Cache (1 hop)"},
       {mem::level::kRemoteCache2, "Remote Cache (2 hops)"},
       {mem::level::kIo, "I/O"},
       {mem::level::kUncached, "Uncached"}}};
  const uint64_t level = mem::kLevel.Of(data_src);
  const uint64_t number = mem::kNumber.Of(data_src);
  if (number != mem::number::kAbsent && number != mem::number::kNa) {
    return NumberWords(data_src, level);
  }
  const std::string names = Alternatives(kNames, level);
  return names.empty() ? std::string(kNotAvailable) : Concat(names, " ", Outcome(level));
}

std::string SnoopWords(uint64_t data_src) {
  constexpr std::array<NamedBit, 5> kNames = {{{mem::snoop::kNa, kNotAvailable},
                                               {mem::snoop::kNone, "None"},
                                               {mem::snoop::kHit, "Hit"},
                                               {mem::snoop::kMiss, "Miss"},
                                               {mem::snoop::kHitM, "HitM"}}};
  std::string out = Alternatives(kNames, mem::kSnoop.Of(data_src));
  const uint64_t extended = mem::kSnoopX.Of(data_src);
  if ((extended & mem::snoopx::kForward) != 0) AppendAlternative(out, "Fwd");
  if ((extended & mem::snoopx::kPeer) != 0) AppendAlternative(out, "Peer");
  return out.empty() ? std::string(kNotAvailable) : out;
}

std::string TlbWords(uint64_t data_src) {
  constexpr std::array<NamedBit, 5> kNames = {{{mem::tlb::kNa, kNotAvailable},
                                               {mem::tlb::kL1, "L1"},
                                               {mem::tlb::kL2, "L2"},
                                               {mem::tlb::kWalker, "Walker"},
                                               {mem::tlb::kFault, "Fault"}}};
  const uint64_t tlb = mem::kTlb.Of(data_src);
  std::string out = Alternatives(kNames, tlb);
  if (out.empty()) out = kNotAvailable;
  if ((tlb & mem::tlb::kHit) != 0) out += " hit";
  if ((tlb & mem::tlb::kMiss) != 0) out += " miss";
  return out;
}

std::string LockWord(uint64_t bits) {
  if ((bits & mem::lock::kNa) != 0) return std::string(kNotAvailable);
  return (bits & mem::lock::kLocked) != 0 ? "Yes" : "No";
}

std::string BlockedWords(uint64_t bits) {
  const bool data = (bits & mem::blocked::kData) != 0;
  const bool address = (bits & mem::blocked::kAddress) != 0;
  if ((bits & mem::blocked::kNa) != 0 || !(data || address)) return " N/A";
  return Concat(data ? " Data" : "", address ? " Addr" : "");
}

}  // namespace

PerfWords PerfWordsOf(uint64_t data_src) {
  return {OpWord(mem::kOp.Of(data_src)),
          LevelWords(data_src),
          SnoopWords(data_src),
          TlbWords(data_src),
          LockWord(mem::kLock.Of(data_src)),
          BlockedWords(mem::kBlocked.Of(data_src))};
}

std::string PerfScriptText(uint64_t data_src) {
  const PerfWords words = PerfWordsOf(data_src);
  return Concat("|OP ", words.op, "|LVL ", words.level, "|SNP ", words.snoop, "|TLB ", words.tlb,
                "|LCK ", words.lock, "|BLK ", words.blocked);
}

}  // namespace memagent::viewer

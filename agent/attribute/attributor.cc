#include "agent/attribute/attributor.h"

#include <charconv>

#include "agent/os/clock.h"
#include "agent/os/proc_maps.h"
#include "agent/os/tsc.h"

namespace memagent::attribute {
namespace {

// Reading the maps of a big process takes a millisecond: at most 5 % of one CPU goes there.
constexpr uint64_t kRefreshCostFactor = 20;
constexpr uint64_t kRefreshFloorNanos = 20'000'000;

std::string_view FileName(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

Attribution Because(UnattributedReason reason) { return {SiteId::kUnknown, reason}; }

// In something that began at `start`.
Attribution Within(SiteId site, uint64_t start, uint64_t size_bytes) {
  return {site, UnattributedReason::kSiteUntracked, start, size_bytes};
}

Attribution WithinRegion(const Region& region) {
  return Within(region.site, region.start, region.end - region.start);
}

}  // namespace

void Attributor::AddThread(uint32_t thread, uint64_t initial_sp, uint64_t thread_pointer,
                           bool main) {
  areas_.Add({thread, StackStart(initial_sp), initial_sp, thread_pointer});
  if (main) NameThread(thread, "main");
}

// A stack that the program put into a heap block or a mapping of its own stays with that, since
// other things may lie beside it. The main thread's is the [stack] mapping, which grows: it is
// recognised by name.
uint64_t Attributor::StackStart(uint64_t address) const {
  const auto range = space_.Find(address);
  if (!range || range->kind != MappingKind::kAnonymous) return address;
  const ledger::EventTime now = ledger::Now();
  ledger::Block block;
  const bool in_block =
      ledger::LookUpBlock(address, now, now, block) == ledger::SlotVerdict::kBlock;
  return in_block || regions_.Find(address, os::ReadTsc()) ? address : range->start;
}

// A thread is mostly newer than the last look at the maps, and its stack may lie where something
// else was then: every look learns all stacks again.
void Attributor::LearnStacks() {
  areas_.LearnStacks([this](uint64_t address) { return StackStart(address); });
}

void Attributor::RemoveThread(uint32_t thread) {
  areas_.Remove(thread);
  thread_names_.erase(thread);
}

void Attributor::NameThread(uint32_t thread, std::string_view name) {
  thread_names_[thread] = base::String(name);
}

SiteId Attributor::SiteNamed(RegionKind kind, std::string_view name, const StaticObject& object) {
  base::String key;
  char digits[48];
  for (uint64_t number : {static_cast<uint64_t>(kind), uint64_t{object.module}, object.address}) {
    key.append(digits, std::to_chars(digits, std::end(digits), number, 16).ptr);
    key.push_back(' ');
  }
  key.append(name);
  SiteId& site = site_by_key_[key];
  if (site == SiteId::kUnknown) {
    site = ledger::NewSite(kind);
    named_sites_.push_back(
        {site, kind, base::String(name), object.module, object.address, object.size_bytes});
  }
  return site;
}

Attribution Attributor::InArea(const AreaAnswer& area) {
  const auto name = thread_names_.find(area.thread);
  return {SiteNamed(area.kind,
                    name == thread_names_.end() ? "unnamed" : std::string_view(name->second), {})};
}

Attribution Attributor::InFile(uint64_t address, const Moment& moment, const MappedRange& range) {
  const StaticObject object = statics_.Find(address);
  if (object.module != 0) {
    if (!object.name.empty()) {
      return Within(SiteNamed(RegionKind::kGlobal, object.name, object), object.start,
                    object.size_bytes);
    }
    base::String name("[data of ");
    name.append(FileName(object.module_path)).push_back(']');
    return {SiteNamed(RegionKind::kGlobal, name, {object.module, 0, 0, {}, {}})};
  }
  const auto region = regions_.Find(address, moment.tsc);
  if (range.kind == MappingKind::kShared && region && region->site != SiteId::kUnknown) {
    return WithinRegion(*region);
  }
  const RegionKind kind = range.kind == MappingKind::kShared ? RegionKind::kShm : RegionKind::kFile;
  return Within(SiteNamed(kind, space_.PathOf(range), {}), range.start, range.end - range.start);
}

Attribution Attributor::InAnonymous(uint64_t address, const Moment& moment, bool mapped) {
  const auto error = static_cast<uint32_t>(moment.error_ticks >> ledger::kEventTimeShift) + 1;
  const HeapAnswer heap = blocks_.Find(address, ledger::FromTsc(moment.tsc), error);
  switch (heap.verdict) {
    case HeapVerdict::kBlock:
      return Within(heap.block.site, heap.block.start, heap.block.size);
    case HeapVerdict::kAmbiguous:
      return Because(UnattributedReason::kAmbiguousTime);
    case HeapVerdict::kOverwritten:
      return Because(UnattributedReason::kFreedHistoryOverwritten);
    case HeapVerdict::kNothing:
      break;
  }
  const auto region = regions_.Find(address, moment.tsc);
  if (region && region->site != SiteId::kUnknown) return WithinRegion(*region);
  const StaticObject object = statics_.Find(address);  // .bss has no file behind it
  if (object.module != 0 && !object.name.empty()) {
    return Within(SiteNamed(RegionKind::kGlobal, object.name, object), object.start,
                  object.size_bytes);
  }
  if (!mapped) return Because(UnattributedReason::kUnknownRegion);
  return Because(ledger::BlocksLeftOut() ? UnattributedReason::kUnpickedBlock
                                         : UnattributedReason::kUnallocated);
}

Attribution Attributor::AttributeOnce(uint64_t address, const Moment& moment) {
  const auto range = space_.Find(address);
  if (!range) return InAnonymous(address, moment, false);
  switch (range->kind) {
    case MappingKind::kMainStack:
      return {SiteNamed(RegionKind::kStack, "main", {})};
    case MappingKind::kKernel:
      return Because(UnattributedReason::kKernelAddress);
    case MappingKind::kFile:
    case MappingKind::kShared:
      return InFile(address, moment, *range);
    default:
      break;
  }
  const AreaAnswer area = areas_.Find(address);
  if (area.kind != RegionKind::kUnknown) return InArea(area);
  return InAnonymous(address, moment, true);
}

bool Attributor::RefreshAllowed() { return os::MonotonicNanos() >= next_refresh_; }

Attribution Attributor::Attribute(uint64_t address, const Moment& moment) {
  if (address >> 47 != 0) return Because(UnattributedReason::kKernelAddress);
  const Attribution first = AttributeOnce(address, moment);
  const bool maps_may_be_old =
      first.in_unknown_heap() || first.reason == UnattributedReason::kUnknownRegion;
  if (first.attributed() || !maps_may_be_old || !RefreshAllowed()) return first;
  Refresh();
  return AttributeOnce(address, moment);
}

void Attributor::Refresh() {
  const uint64_t before = os::MonotonicNanos();
  const uint64_t before_tsc = os::ReadTsc();
  const auto text = os::ReadOwnMaps();
  if (text) {
    space_.Load(*text);
    regions_.KeepMapped(space_, before_tsc);
    LearnStacks();
    statics_.Refresh(*text);
  }
  const uint64_t after = os::MonotonicNanos();
  next_refresh_ = after + kRefreshFloorNanos + (after - before) * kRefreshCostFactor;
}

void Attributor::ForgetBefore(uint64_t settled_tsc) {
  blocks_.ForgetBefore(ledger::FromTsc(settled_tsc));
  regions_.ForgetBefore(settled_tsc);
}

}  // namespace memagent::attribute

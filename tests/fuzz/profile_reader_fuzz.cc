// The profile reader: whatever the bytes, ids lead into their tables and parents end.
#include <array>
#include <cstdlib>
#include <string>

#include "agent/profile/reader.h"
#include "agent/profile/writer.h"
#include "tests/support/fuzz_profile.h"
#include "tests/support/fuzz_seeds.h"
#include "tests/support/stencil_profile.h"

namespace {

namespace profile = memagent::profile;

class StringSink final : public profile::Sink {
 public:
  bool Append(std::span<const char> bytes) override {
    text.append(bytes.data(), bytes.size());
    return true;
  }
  std::string text;
};

std::string SmallProfile() {
  StringSink sink;
  profile::ProfileWriter writer(sink);
  const std::array<profile::ThreadData, 1> threads = {profile::ThreadData{1, "main", 1, true}};
  const std::array<profile::FrameData, 2> frames = {profile::FrameData{0, 0x10, false},
                                                    profile::FrameData{0, 0x20, true}};
  const std::array<profile::StackData, 2> stacks = {profile::StackData{0, 1},
                                                    profile::StackData{1, 2}};
  const std::array<profile::CellData, 1> cells = {
      profile::CellData{1, {}, {}, 5, {}, 2, 0x81}};
  const std::array<profile::SymbolData, 1> symbols = {profile::SymbolData{1, "f", 0}};
  writer.WriteHeader(profile::HeaderData{});
  writer.WriteThreads(1, threads);
  writer.WriteFrames(1, frames);
  writer.WriteStacks(1, stacks);
  writer.WriteSymbols(symbols);
  profile::SiteTotalData total;
  total.site = 3;
  total.cells = cells;
  const std::array<profile::StripData, 1> strips = {profile::StripData{7, {}, {}, 5}};
  total.strips = strips;
  profile::PlacementCallData call;
  call.thread = 1;
  call.frame = 2;
  call.site = 3;
  profile::PlacementData placement;
  placement.calls = std::span(&call, 1);
  writer.BeginTotals(9, true);
  writer.AddSiteTotal(total);
  writer.EndTotals(profile::AccountingData{}, profile::OwnCostData{}, {}, {}, {}, placement);
  writer.WriteFooter(profile::FooterData{9, "exit"});
  return sink.text;
}

void Require(bool condition) {
  if (!condition) abort();
}

void CheckPromises(const profile::Profile& p) {
  for (size_t id = 1; id < p.stacks.size(); ++id) {
    Require(p.stacks[id].parent < id && p.stacks[id].frame < p.frames.size());
  }
  for (const profile::Frame& frame : p.frames) {
    Require(frame.module < p.modules.size() && frame.function < p.strings.size());
  }
  for (const auto& [id, site] : p.sites) {
    Require(site.site.id() == id && site.site.stack() < p.stacks.size());
    const auto& total = site.total;
    Require(total.cell_thread_size() == total.cell_samples_size() &&
            total.code_frame_size() == total.code_remote_samples_size() &&
            total.page_node_size() == total.page_count_size());
    Require(total.strip_position_size() == total.strip_samples_size() &&
            total.strip_cpu_node_size() == total.strip_memory_node_size() &&
            total.strip_cpu_node_size() == total.strip_samples_size());
    Require(total.cell_positions_size() == 0 ||
            total.cell_positions_size() == total.cell_samples_size());
    for (const uint32_t position : total.strip_position()) Require(position < 64);
    for (const uint32_t thread : total.cell_thread()) Require(thread < p.threads.size());
    for (const uint32_t frame : total.code_frame()) Require(frame < p.frames.size());
  }
  for (const auto& call : p.placement_calls) {
    Require(call.thread() < p.threads.size() && call.frame() < p.frames.size());
    Require(call.site() == 0 || p.sites.count(call.site()) != 0);
  }
  for (const profile::Thread& thread : p.threads) Require(thread.start.name() < p.strings.size());
}

void Check(const std::string& bytes) {
  const profile::LoadResult result = profile::ParseProfile(bytes, "fuzz");
  if (!result.profile) {
    Require(!result.problem.empty());
    return;
  }
  CheckPromises(*result.profile);
}

}  // namespace

extern "C" void FuzzSeeds(memagent::testing::SeedList& seeds) {
  const std::string whole = SmallProfile();
  memagent::testing::AddSeed(seeds, whole);
  memagent::testing::AddSeed(seeds, whole.substr(0, whole.size() / 2));
  memagent::testing::AddSeed(seeds, memagent::tests::StencilBytes(2));
  memagent::testing::AddSeed(seeds, "");
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  Check(bytes);
  Check(memagent::testing::WithGoodChecksums(bytes));
  return 0;
}

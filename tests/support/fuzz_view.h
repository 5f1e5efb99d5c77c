// What the fuzzers of the viewer share: seeds that are profiles, and the view of a changed one.
#ifndef MEMAGENT_TESTS_SUPPORT_FUZZ_VIEW_H_
#define MEMAGENT_TESTS_SUPPORT_FUZZ_VIEW_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "agent/profile/reader.h"
#include "tests/support/fuzz_profile.h"
#include "tests/support/fuzz_seeds.h"
#include "tests/support/stencil_profile.h"
#include "viewer/query.h"

namespace memagent::testing {

inline void AddProfileSeeds(SeedList& seeds) {
  for (const int nodes : {1, 2}) AddSeed(seeds, tests::StencilBytes(nodes));
}

// nullopt: the bytes are refused as a profile, whatever their checksums.
inline std::optional<viewer::View> ViewOf(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  auto loaded = profile::ParseProfile(WithGoodChecksums(bytes), "fuzz");
  if (!loaded.profile) return std::nullopt;
  return viewer::BuildView(std::move(*loaded.profile), {.lines = false});
}

}  // namespace memagent::testing

#endif  // MEMAGENT_TESTS_SUPPORT_FUZZ_VIEW_H_

// Against this test's own executable, whose functions are known.
#include "inject/module_file.h"

#include <gtest/gtest.h>
#include <link.h>

#include "tests/support/temp_tree.h"

namespace grids {
struct Grid {
  [[gnu::used, gnu::noinline]] int Make(int x) { return x * 7 + 3; }
};
[[gnu::used, gnu::noinline]] int MakeAny(int x) { return x * 11 + 3; }
}  // namespace grids
extern "C" [[gnu::used, gnu::noinline]] int memagent_make_grid(int x) { return x * 13 + 1; }

namespace memagent::inject {
namespace {

uint64_t OwnBias() {
  uint64_t bias = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* out) {
        *static_cast<uint64_t*>(out) = info->dlpi_addr;  // the first is the executable
        return 1;
      },
      &bias);
  return bias;
}

TEST(IsFunctionNamed, SymbolsOfCAreTheirOwnNames) {
  EXPECT_TRUE(IsFunctionNamed("make_grid", "make_grid"));
  EXPECT_FALSE(IsFunctionNamed("make_grids", "make_grid"));
  EXPECT_FALSE(IsFunctionNamed("remake_grid", "make_grid"));
  EXPECT_FALSE(IsFunctionNamed("make_grid", ""));
}

TEST(IsFunctionNamed, CopiesThatTheCompilerMakesAreTheFunction) {
  EXPECT_TRUE(IsFunctionNamed("make_grid.constprop.0", "make_grid"));
  EXPECT_TRUE(IsFunctionNamed("_ZN5grids4Grid4MakeEi.part.0", "grids::Grid::Make"));
  EXPECT_TRUE(IsFunctionNamed("make_grid.part.1", "make_grid.part.0"));
}

TEST(IsFunctionNamed, NamesOfCxxMayLeaveScopesAndParametersOut) {
  const std::string symbol = "_ZN5grids4Grid4MakeEi";
  for (const char* name : {"_ZN5grids4Grid4MakeEi", "grids::Grid::Make(int)", "grids::Grid::Make",
                           "Grid::Make", "Make"}) {
    EXPECT_TRUE(IsFunctionNamed(symbol, name)) << name;
  }
  for (const char* name : {"ake", "id::Make", "Grid", "grids::Make", "_ZN5grids4Grid4MakeEv"}) {
    EXPECT_FALSE(IsFunctionNamed(symbol, name)) << name;
  }
}

TEST(IsFunctionNamed, AnonymousScopesAndTemplates) {
  EXPECT_TRUE(IsFunctionNamed("_ZN12_GLOBAL__N_113AllocateFieldEv", "AllocateField"));
  EXPECT_TRUE(IsFunctionNamed("_Z4makeIiEvT_", "make"));  // void make<int>(int)
  EXPECT_TRUE(IsFunctionNamed("_Z4makeIiEvT_", "make<int>"));
}

TEST(PlainName, ParametersAreLeftOut) {
  EXPECT_EQ(PlainName("_ZN5grids4Grid4MakeEi"), "grids::Grid::Make");
  EXPECT_EQ(PlainName("_ZN12_GLOBAL__N_113AllocateFieldEv"),
            "(anonymous namespace)::AllocateField");
  EXPECT_EQ(PlainName("main"), "main");
}

TEST(ModuleFile, FunctionLiesWhereItRuns) {
  const auto module = ModuleFile::Open("/proc/self/exe");
  ASSERT_NE(module, nullptr);
  for (const auto& [name, address] :
       {std::pair<std::string, uint64_t>{"memagent_make_grid",
                                         reinterpret_cast<uint64_t>(&memagent_make_grid)},
        {"grids::MakeAny", reinterpret_cast<uint64_t>(&grids::MakeAny)}}) {
    const auto ranges = module->FunctionsNamed(name);
    ASSERT_EQ(ranges.size(), 1u) << name;
    EXPECT_EQ(ranges[0].start, address - OwnBias());
    EXPECT_GT(ranges[0].end, ranges[0].start);
  }
  EXPECT_TRUE(module->FunctionsNamed("no_such_function").empty());
}

TEST(ModuleFile, KeyIsTheBuildIdOrOfTheHeaders) {
  const auto module = ModuleFile::Open("/proc/self/exe");
  ASSERT_NE(module, nullptr);
  if (module->build_id().empty()) {
    EXPECT_EQ(module->key().substr(0, 8), "headers=");
  } else {
    EXPECT_EQ(module->key().size(), module->build_id().size() * 2);
  }
}

TEST(ModuleFile, WhatIsNoProgramIsNone) {
  const testing::TempTree tree;
  EXPECT_EQ(ModuleFile::Open(tree.Write("text", "no ELF file")), nullptr);
  EXPECT_EQ(ModuleFile::Open(tree.root()), nullptr);
  EXPECT_EQ(ModuleFile::Open("/no/such/file"), nullptr);
}

}  // namespace
}  // namespace memagent::inject

// Against this process's own mappings, and against lists made up.
#include "agent/attribute/modules.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

extern "C" {
[[gnu::used, gnu::noinline]] int memagent_modules_test_function(int x) { return x * 5 + 3; }
[[gnu::used]] int memagent_modules_test_table[50] = {1};
[[gnu::used]] int memagent_modules_test_zeros[5000];
}

namespace memagent::attribute {
namespace {

std::string Text(const base::String& text) { return std::string(text.data(), text.size()); }

uint64_t Address(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

void RefreshFromSelf(Modules& modules, Nanos now) {
  const std::optional<base::String> maps = os::ReadOwnMaps();
  ASSERT_TRUE(maps.has_value());
  modules.Refresh(*maps, now);
}

class OwnModules : public testing::Test {
 protected:
  void SetUp() override { RefreshFromSelf(modules_, 100); }
  Modules modules_;
};

TEST_F(OwnModules, EveryLoadedObjectHasTheLoadersBias) {
  struct Check {
    const Modules* modules;
    int count = 0;
  } check{&modules_};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* out) {
        auto* state = static_cast<Check*>(out);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& header = info->dlpi_phdr[i];
          if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0) continue;
          if (std::strstr(info->dlpi_name, "vdso") != nullptr) continue;
          const CodeLocation at = state->modules->Locate(info->dlpi_addr + header.p_vaddr);
          EXPECT_NE(at.module, 0u) << info->dlpi_name;
          EXPECT_EQ(at.address, header.p_vaddr) << info->dlpi_name;
          ++state->count;
        }
        return 0;
      },
      &check);
  EXPECT_GE(check.count, 3);
}

TEST_F(OwnModules, FunctionIsNamed) {
  const CodeLocation at =
      modules_.Locate(Address(reinterpret_cast<const void*>(&memagent_modules_test_function)));
  ASSERT_NE(at.module, 0u);
  const std::vector<uint64_t> addresses = {at.address, at.address + 1};
  const auto names = modules_.FindFunctions(at.module, addresses);
  EXPECT_EQ(Text(names[1].name), "memagent_modules_test_function");
  EXPECT_EQ(names[1].offset, 1u);
}

TEST_F(OwnModules, GlobalIsNamedInDataAndInBss) {
  const StaticObject table = modules_.Find(Address(&memagent_modules_test_table[49]));
  EXPECT_EQ(table.name, "memagent_modules_test_table");
  EXPECT_EQ(table.size_bytes, sizeof(memagent_modules_test_table));
  char executable[4096] = {};
  ASSERT_GT(readlink("/proc/self/exe", executable, sizeof(executable) - 1), 0);
  EXPECT_EQ(table.module_path, executable);
  const StaticObject zeros = modules_.Find(Address(&memagent_modules_test_zeros[4999]));
  EXPECT_EQ(zeros.name, "memagent_modules_test_zeros");
  EXPECT_EQ(zeros.address + modules_.Get(zeros.module).load_bias,
            Address(&memagent_modules_test_zeros));
  EXPECT_EQ(zeros.start, Address(&memagent_modules_test_zeros));
}

TEST_F(OwnModules, AddressWithoutASymbolNamesItsSection) {
  const uint64_t code = Address(reinterpret_cast<const void*>(&memagent_modules_test_function));
  const StaticObject found = modules_.Find(code);  // code: no variable there
  EXPECT_NE(found.module, 0u);
  EXPECT_EQ(found.name, "");
  EXPECT_EQ(found.size_bytes, 0u);
  EXPECT_EQ(found.start, 0u);
  EXPECT_NE(found.address, 0u);
  EXPECT_LE(found.address + modules_.Get(found.module).load_bias, code);
}

TEST_F(OwnModules, StackAndHeapAreInNoModule) {
  int local = 0;
  const std::vector<int> heap(10);
  EXPECT_EQ(modules_.Locate(Address(&local)), (CodeLocation{0, Address(&local)}));
  EXPECT_EQ(modules_.Find(Address(heap.data())).module, 0u);
}

TEST_F(OwnModules, IdsStayThroughDlopenAndDlclose) {
  const uint32_t before = modules_.count();
  const CodeLocation own =
      modules_.Locate(Address(reinterpret_cast<const void*>(&memagent_modules_test_function)));
  void* handle = dlopen("libutil.so.1", RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) GTEST_SKIP() << "no libutil.so.1 here: " << dlerror();
  RefreshFromSelf(modules_, 200);
  ASSERT_EQ(modules_.count(), before + 1);
  const Module& added = modules_.Get(before + 1);
  EXPECT_NE(Text(added.path).find("libutil"), std::string::npos);
  EXPECT_EQ(added.loaded, 200u);
  EXPECT_EQ(added.unloaded, 0u);
  EXPECT_FALSE(added.build_id.empty());
  const uint64_t inside = added.start;
  ASSERT_EQ(dlclose(handle), 0);
  RefreshFromSelf(modules_, 300);
  EXPECT_EQ(modules_.count(), before + 1);
  EXPECT_EQ(modules_.Get(before + 1).unloaded, 300u);
  EXPECT_EQ(modules_.Locate(inside).module, before + 1) << "samples may still be under way";
  EXPECT_EQ(
      modules_.Locate(Address(reinterpret_cast<const void*>(&memagent_modules_test_function))),
      own);
}

constexpr char kTwoLibraries[] =
    "10000-11000 r--p 00000000 fe:00 71   /no/such/liba.so\n"
    "11000-14000 r-xp 00001000 fe:00 71   /no/such/liba.so\n"
    "14000-15000 rw-p 00004000 fe:00 71   /no/such/liba.so\n"
    "20000-21000 r--p 00000000 fe:00 72   /no/such/libb.so\n"
    "21000-22000 r-xp 00001000 fe:00 72   /no/such/libb.so\n"
    "30000-31000 r--p 00000000 fe:00 73   /no/such/data\n";

TEST(Modules, FileThatCannotBeReadHasTheUsualLayoutAndNoNames) {
  Modules modules;
  modules.Refresh(kTwoLibraries, 1);
  EXPECT_EQ(modules.count(), 2u) << "a file without code is no module";
  EXPECT_EQ(modules.Locate(0x12345), (CodeLocation{1, 0x2345}));
  EXPECT_EQ(modules.Locate(0x21fff), (CodeLocation{2, 0x1fff}));
  EXPECT_EQ(modules.Locate(0x22000), (CodeLocation{0, 0x22000}));
  const std::vector<uint64_t> addresses = {1, 2};
  EXPECT_EQ(modules.FindFunctions(1, addresses).size(), 2u);
  EXPECT_EQ(modules.Find(0x14010).module, 1u);
  EXPECT_EQ(modules.Find(0x14010).name, "");
}

TEST(Modules, AddressReusedByAnotherFileBelongsToTheNewOne) {
  Modules modules;
  modules.Refresh(kTwoLibraries, 1);
  modules.Refresh("11000-14000 r-xp 00001000 fe:00 99   /no/such/libc.so\n", 2);
  EXPECT_EQ(modules.count(), 3u);
  EXPECT_EQ(modules.Get(1).unloaded, 2u);
  EXPECT_EQ(modules.Locate(0x12000).module, 3u);
  EXPECT_EQ(modules.Locate(0x21000).module, 2u) << "gone, but nothing is there now";
  modules.Refresh(kTwoLibraries, 3);
  EXPECT_EQ(modules.count(), 3u) << "back at its old place: the old id";
  EXPECT_EQ(modules.Get(1).unloaded, 0u);
  EXPECT_EQ(modules.Locate(0x12000).module, 1u);
}

TEST(Modules, EachTimeAModuleGoesIsToldOnce) {
  constexpr std::string_view kLoaded =
      "7f0000000000-7f0000001000 r-xp 00000000 fe:00 77  /nowhere/plugin.so\n";
  Modules modules;
  std::vector<uint32_t> gone;
  const auto tell = [&] {
    modules.ForEachNewlyGone([&](uint32_t id, const Module&) { gone.push_back(id); });
  };
  modules.Refresh(kLoaded, 1);
  tell();
  EXPECT_TRUE(gone.empty());
  modules.Refresh("", 2);
  tell();
  modules.Refresh("", 3);
  tell();
  EXPECT_EQ(gone, (std::vector<uint32_t>{1}));
  modules.Refresh(kLoaded, 4);
  modules.Refresh("", 5);
  tell();
  EXPECT_EQ(gone, (std::vector<uint32_t>{1, 1}));
}

TEST(Modules, OneFileLoadedTwiceIsTwoModules) {
  Modules modules;
  modules.Refresh(
      "11000-12000 r-xp 00001000 fe:00 71   /no/such/liba.so\n"
      "21000-22000 r-xp 00001000 fe:00 71   /no/such/liba.so\n",
      1);
  EXPECT_EQ(modules.count(), 2u);
  EXPECT_EQ(modules.Locate(0x11010), (CodeLocation{1, 0x1010}));
  EXPECT_EQ(modules.Locate(0x21010), (CodeLocation{2, 0x1010}));
}

TEST(Modules, UnknownIdIsAnEmptyModule) {
  const Modules modules;
  EXPECT_TRUE(modules.Get(0).path.empty());
  EXPECT_TRUE(modules.Get(77).path.empty());
  EXPECT_EQ(modules.count(), 0u);
}

}  // namespace
}  // namespace memagent::attribute

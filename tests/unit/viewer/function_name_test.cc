#include "viewer/function_name.h"

#include <gtest/gtest.h>

#include <string>

namespace memagent::viewer {
namespace {

TEST(ShortName, ParametersTemplatesAndReturnTypeGo) {
  EXPECT_EQ(ShortName("Grid::Grid(int)"), "Grid::Grid");
  EXPECT_EQ(ShortName("void Grid<double>::fill<int>(int) const"), "Grid::fill");
  EXPECT_EQ(ShortName("std::vector<int, std::allocator<int> >::reserve(unsigned long)"),
            "std::vector::reserve");
  EXPECT_EQ(ShortName("unsigned long* f<A<(B)1>, C->D>(int)"), "f");
}

TEST(ShortName, OperatorsStayWhole) {
  EXPECT_EQ(ShortName("operator new[](unsigned long)"), "operator new[]");
  EXPECT_EQ(ShortName("A<int>::operator()(int) const"), "A::operator()");
  EXPECT_EQ(ShortName("std::ostream& operator<< <char>(std::ostream&, char)"), "operator<< <char>");
  EXPECT_EQ(ShortName("bool operator<(A const&, A const&)"), "operator<");
  EXPECT_EQ(ShortName("A::operator bool() const"), "A::operator bool");
  EXPECT_EQ(ShortName("operators(int)"), "operators");
}

TEST(ShortName, AnonymousNamespacesAndLambdasStay) {
  EXPECT_EQ(ShortName("(anonymous namespace)::fill(int)"), "(anonymous namespace)::fill");
  EXPECT_EQ(ShortName("run(int)::{lambda(int)#1}::operator()(int) const"),
            "run::{lambda#1}::operator()");
  EXPECT_EQ(ShortName("A::run() const::{lambda()#2}::operator()() const"),
            "A::run::{lambda#2}::operator()");
}

TEST(ShortName, CompilersCloneSuffixGoes) {
  EXPECT_EQ(ShortName("fill.constprop.0"), "fill");
  EXPECT_EQ(ShortName("fill.part.1.cold"), "fill");
}

TEST(ShortName, UnbalancedTextDoesNotEndBadly) {
  for (const char* text : {"<", "(", "{", "a<b", "operator", "operator(", "::", ")", ">", " "}) {
    EXPECT_FALSE(ShortName(text).empty()) << text;
  }
}

TEST(IsPlumbing, AllocatorsAndTheStandardLibrary) {
  for (const char* name : {"malloc", "operator new", "operator new[]", "std::vector::reserve",
                           "__gnu_cxx::new_allocator::allocate", "xmalloc", "mmap",
                           "start_thread", "__libc_start_call_main", "__clone3"}) {
    EXPECT_TRUE(IsPlumbing(name)) << name;
  }
  for (const char* name : {"main", "Grid::Grid", "my_malloc_user", "stdlike::f", ""}) {
    EXPECT_FALSE(IsPlumbing(name)) << name;
  }
}

}  // namespace
}  // namespace memagent::viewer

#include "inject/placement_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace memagent::inject {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::vector<uint32_t> kNodes = {0, 2};

PlacementRequest Good(std::string_view text) {
  PlacementRequest request;
  std::string problem;
  EXPECT_TRUE(ParsePlacementRequest(text, kNodes, request, problem)) << problem;
  return request;
}

std::string ProblemOf(std::string_view text) {
  PlacementRequest request;
  std::string problem;
  EXPECT_FALSE(ParsePlacementRequest(text, kNodes, request, problem)) << text;
  return problem;
}

TEST(PlacementRequest, SiteOfAProfile) {
  const PlacementRequest request = Good("S12@out/a=b.memagent=bind:2");
  EXPECT_EQ(request.text, "S12@out/a=b.memagent=bind:2");
  EXPECT_EQ(request.site, "S12");
  EXPECT_EQ(request.file, "out/a=b.memagent");
  EXPECT_EQ(request.placement, "bind:2");
}

TEST(PlacementRequest, FunctionOfTheProgramOrOfALibrary) {
  PlacementRequest request = Good("fn:Grid::Make=local");
  EXPECT_EQ(request.function, "Grid::Make");
  EXPECT_EQ(request.file, "");
  EXPECT_EQ(request.site, "");
  request = Good("fn:make_grid@./libgrid.so=huge");
  EXPECT_EQ(request.function, "make_grid");
  EXPECT_EQ(request.file, "./libgrid.so");
  EXPECT_EQ(Good("fn:operator==@x=local").function, "operator==");
}

TEST(PlacementRequest, NodesThatAreNotNamedAreThoseWithMemory) {
  EXPECT_EQ(Good("fn:f=interleave").placement, "interleave:0+2");
  EXPECT_EQ(Good("fn:f=block").placement, "block:0+2");
  EXPECT_EQ(Good("fn:f=block:2+0").placement, "block:2+0");
}

TEST(PlacementRequest, NodesMayStandBehindAnEqualsSign) {
  PlacementRequest request = Good("S1@a.memagent=bind=2");
  EXPECT_EQ(request.text, "S1@a.memagent=bind=2");
  EXPECT_EQ(request.site, "S1");
  EXPECT_EQ(request.file, "a.memagent");
  EXPECT_EQ(request.placement, "bind:2");
  EXPECT_EQ(Good("fn:f=interleave=0+2").placement, "interleave:0+2");
  EXPECT_EQ(Good("fn:f=block=2+0").placement, "block:2+0");
  EXPECT_EQ(Good("fn:operator=@x=bind=0").function, "operator=");
  EXPECT_THAT(ProblemOf("fn:f=bind=1"), HasSubstr("no memory on node 1"));
}

TEST(PlacementRequest, FileThatIsNamedLikeAPlacementIsAFile) {
  const PlacementRequest request = Good("S1@x=bind=local");
  EXPECT_EQ(request.file, "x=bind");
  EXPECT_EQ(request.placement, "local");
  EXPECT_THAT(ProblemOf("fn:f=local=1"), HasSubstr("a placement is"));
}

TEST(PlacementRequest, NodeWithoutMemoryIsRefused) {
  EXPECT_THAT(ProblemOf("fn:f=bind:1"), HasSubstr("no memory on node 1, only on 0, 2"));
  EXPECT_THAT(ProblemOf("fn:f=interleave:0+1"), HasSubstr("node 1"));
}

TEST(PlacementRequest, WhatIsWrongIsSaidInOneSentence) {
  EXPECT_THAT(ProblemOf("S1@a"), HasSubstr("expected SITE=PLACEMENT"));
  EXPECT_THAT(ProblemOf("S1=local"), HasSubstr("S3@PROFILE"));
  EXPECT_THAT(ProblemOf("grid@a=local"), HasSubstr("S3@PROFILE"));
  EXPECT_THAT(ProblemOf("fn:=local"), HasSubstr("no function"));
  EXPECT_THAT(ProblemOf("fn:f=spread"), HasSubstr("a placement is"));
  EXPECT_THAT(ProblemOf("fn:f=bind"), HasSubstr("names no node"));
  EXPECT_THAT(ProblemOf("fn:f\tg=local"), HasSubstr("control character"));
  EXPECT_THAT(ProblemOf("fn:f=local:1"), HasSubstr("take no nodes"));
}

TEST(PlacementTexts, CommentsAndEmptyLinesAreLeftOut) {
  EXPECT_THAT(PlacementTexts("# why\n\n  S1@a=local \r\nfn:f=huge"),
              ElementsAre("S1@a=local", "fn:f=huge"));
}

}  // namespace
}  // namespace memagent::inject

#include "agent/capture/engine_errors.h"

#include <errno.h>
#include <gtest/gtest.h>

#include <string>

namespace memagent::capture {
namespace {

TEST(EngineErrors, EveryDocumentedErrnoHasItsSentences) {
  for (const int error : {EACCES, EPERM, ENOSYS, ENOENT, ENODEV, ENXIO, EOPNOTSUPP, EINVAL, E2BIG,
                          EBUSY, EMFILE, ENFILE, ENOSPC, ESRCH, ENOMEM}) {
    const EngineError text = ExplainEngineError(EngineStep::kOpen, error, 2);
    EXPECT_EQ(text.name, strerrorname_np(error));
    EXPECT_FALSE(text.meaning.empty() || text.remedy.empty()) << text.name;
    EXPECT_EQ(text.meaning.back(), '.') << text.meaning;
  }
  for (const int error : {EPERM, ENOMEM, EINVAL, EBUSY, EACCES}) {
    EXPECT_EQ(ExplainEngineError(EngineStep::kMap, error, 2).name, strerrorname_np(error));
  }
}

TEST(EngineErrors, ParanoidAboveTwoIsTheDistributionsLock) {
  const EngineError locked = ExplainEngineError(EngineStep::kOpen, EACCES, 3);
  EXPECT_NE(std::string(locked.meaning).find("above 2"), std::string::npos);
  const EngineError other = ExplainEngineError(EngineStep::kOpen, EACCES, 2);
  EXPECT_EQ(std::string(other.meaning).find("above 2"), std::string::npos);
}

TEST(EngineErrors, EpermDependsOnTheStep) {
  const auto open = ExplainEngineError(EngineStep::kOpen, EPERM, 2);
  const auto map = ExplainEngineError(EngineStep::kMap, EPERM, 2);
  EXPECT_NE(std::string(open.meaning).find("seccomp"), std::string::npos);
  EXPECT_NE(std::string(map.meaning).find("locked-memory"), std::string::npos);
}

TEST(EngineErrors, UnknownErrnoSaysSo) {
  EXPECT_EQ(ExplainEngineError(EngineStep::kOpen, 4000, 2).name, "unknown errno");
}

}  // namespace
}  // namespace memagent::capture

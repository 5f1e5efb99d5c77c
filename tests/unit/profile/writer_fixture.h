// A writer into memory, and what libprotobuf reads back from there.
#ifndef MEMAGENT_TESTS_UNIT_PROFILE_WRITER_FIXTURE_H_
#define MEMAGENT_TESTS_UNIT_PROFILE_WRITER_FIXTURE_H_

#include <gtest/gtest.h>

#include "agent/profile/writer.h"
#include "tests/unit/profile/memory_sink.h"

namespace memagent::profile {

class WriterTest : public testing::Test {
 protected:
  Profile Read() { return MustParse(sink_.text); }

  MemorySink sink_;
  ProfileWriter writer_{sink_};
};

}  // namespace memagent::profile

#endif  // MEMAGENT_TESTS_UNIT_PROFILE_WRITER_FIXTURE_H_

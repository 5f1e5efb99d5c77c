// The other twin: the same functions under other names, so that it is as long as the first.
#include "tests/programs/pitfalls/twin_plugin.h"

MEMAGENT_TWIN_PLUGIN(b, 80000)

extern "C" {
int weak_other(int) { return &memagent_test_nobody_defines_this != nullptr; }
void* take_block(size_t size) { return ground_truth::Kept<void>(malloc(size)); }
void drop_block(void* block) { free(block); }
}

// One of the twins; what the other tests of dlopen_ways.cc need of a plug-in is here too.
#include "tests/programs/pitfalls/twin_plugin.h"

MEMAGENT_TWIN_PLUGIN(a, 40000)

extern "C" {
int weak_count(int) { return &memagent_test_nobody_defines_this != nullptr; }
void* make_block(size_t size) { return ground_truth::Kept<void>(malloc(size)); }
void free_block(void* block) { free(block); }
}

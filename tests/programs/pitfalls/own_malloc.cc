// Row P54: the program exports a malloc family of its own; libc and libstdc++ use it, ours is not
// called.
#include "tests/programs/pitfalls/own_malloc_work.h"
#include "tests/programs/pitfalls/pool_malloc.inc"

int main() { return own_malloc_work::Run(); }

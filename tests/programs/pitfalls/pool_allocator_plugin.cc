// Rows P55, P63: a library for LD_PRELOAD, before the agent or behind it, that is the heap of the
// program.
#include "tests/programs/pitfalls/pool_malloc.inc"

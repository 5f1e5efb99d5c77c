// Row P32: a helper without the loader, which LD_PRELOAD can't reach. Prints its environment's
// view.
#include <cstdio>
#include <cstdlib>

int main() {
  void* block = malloc(1000);
  printf("static helper, block %s\n", block != nullptr ? "given" : "refused");
  free(block);
  return 11;
}

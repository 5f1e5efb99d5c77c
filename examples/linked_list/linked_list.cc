// A list of many small nodes, linked in random order and followed from end to end: every step waits
// for memory before the next can start.
//
//   linked_list [SCALE]    the list is followed SCALE times as often (default 1)
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

namespace {

constexpr size_t kNodes = size_t{1} << 20;  // 48 MiB of nodes and malloc's headers
constexpr int kWalksPerScale = 8;

struct Node {
  Node* next;
  uint64_t value;
  uint64_t padding[3];
};

[[gnu::noinline]] Node* MakeNode(uint64_t value) {
  Node* node = static_cast<Node*>(malloc(sizeof(Node)));
  if (node == nullptr) exit(1);
  node->value = value;
  return node;
}

// A fixed shuffle (the multiplier of the "minimal standard" generator), so that every run is alike.
[[gnu::noinline]] Node* BuildList() {
  std::vector<Node*> nodes;
  for (size_t i = 0; i < kNodes; ++i) nodes.push_back(MakeNode(i));
  uint64_t state = 1;
  for (size_t i = kNodes - 1; i > 0; --i) {
    state = state * 16807 % 2147483647;
    std::swap(nodes[i], nodes[state % (i + 1)]);
  }
  for (size_t i = 0; i + 1 < kNodes; ++i) nodes[i]->next = nodes[i + 1];
  nodes.back()->next = nullptr;
  return nodes.front();
}

[[gnu::noinline]] uint64_t WalkList(const Node* node) {
  uint64_t sum = 0;
  for (; node != nullptr; node = node->next) sum += node->value;
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  const int walks = kWalksPerScale * (argc > 1 ? atoi(argv[1]) : 1);
  Node* first = BuildList();
  uint64_t sum = 0;
  for (int i = 0; i < walks; ++i) {
    sum += WalkList(first);
    // Nothing changed since the last walk; without this the compiler would walk only once.
    asm volatile("" ::: "memory");
  }
  printf("linked_list: %d walks, sum %llu\n", walks, static_cast<unsigned long long>(sum));
  while (first != nullptr) free(std::exchange(first, first->next));
  return 0;
}

// The DWARF expressions of call frame information: recognised, or kOther; never a read outside.
#include <cstdlib>

#include "agent/capture/unwind_expression.h"
#include "tests/support/fuzz_seeds.h"

extern "C" void FuzzSeeds(memagent::testing::SeedList& seeds) {
  // .plt: breg7 8, breg16 0, lit15, and, lit11, ge, lit3, shl, plus.
  memagent::testing::AddBytes(seeds, "\x77\x08\x80\0\x3f\x1a\x3b\x2a\x33\x24\x22");
  memagent::testing::AddSeed(seeds, "\x76\x78\x06");  // DW_OP_breg6 -8, DW_OP_deref
  memagent::testing::AddSeed(seeds, "\x77\xa8\x01");  // DW_OP_breg7 168
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using memagent::capture::ExpressionShape;
  const auto expression = memagent::capture::RecogniseExpression({{data, size}, 0x1000});
  // A shape is at least an operator and its operand.
  if (expression.shape != ExpressionShape::kOther && size < 2) abort();
  return 0;
}

// Attention on the Vulkan device: numbers of rows and keys that are not multiples of the tiles, causal or
// not, operands that are transposed views of one matrix; and no memory for the matrix of scores.
#include "runtime/tape/tape.h"
#include "tests/gpu/compare.h"
#include "tests/support/timing.h"

namespace lunagrad::tests {
namespace {

struct AttentionCase {
  int64_t batch, heads, queries, keys, features, value_features;
  bool causal, transposed;
  Shape mask = {};
  DType mask_type = DType::f32;
  double dropout = 0, softcap = 0;
  bool mask_learns = false;
};

// The result and the gradients of query, key and value, and of a mask that requires one.
std::vector<Tensor> attend(const AttentionCase& c, Device& device, DType type) {
  std::vector<Tensor> operands;
  const auto operand = [&](int64_t rows, int64_t features, uint64_t stream) {
    const Tensor x = to(random({c.batch, rows, c.heads, features}, stream), type);
    const Tensor placed =
        c.transposed ? transpose(to(x, device), 1, 2) : to(contiguous(transpose(x, 1, 2)), device);
    operands.push_back(placed.detach());
    operands.back().requires_grad_();
  };
  operand(c.queries, c.features, 1);
  operand(c.keys, c.features, 2);
  operand(c.keys, c.value_features, 3);
  AttentionOptions options;
  options.is_causal = c.causal;
  options.dropout_p = c.dropout;
  options.softcap = c.softcap;
  context().generator.seed(17);
  if (c.mask.size() > 0) {
    Tensor mask = random(c.mask, 5);
    // All keys of the third query are masked, in all heads.
    if (c.mask_type == DType::boolean)
      mask = gt(mask, Tensor::number(-0.5));
    else
      mask = where(gt(mask, Tensor::number(-1.0)), mask, Tensor::number(-double(INFINITY)));
    if (mask.ndim() > 1 && mask.size(-2) > 2) {
      const Tensor third = select(mask, -2, 2);
      copy_(third,
            c.mask_type == DType::boolean ? Tensor::number(int64_t(0)) : Tensor::number(-double(INFINITY)));
    }
    options.attn_mask = to(c.mask_type == DType::boolean ? mask : to(mask, type), device).detach();
    options.attn_mask.requires_grad_(c.mask_learns);
  }
  const Tensor out = scaled_dot_product_attention(operands[0], operands[1], operands[2], options);
  backward(out, to(to(random({c.batch, c.heads, c.queries, c.value_features}, 4), type), device));
  std::vector<Tensor> results = {out.detach(), operands[0].grad(), operands[1].grad(), operands[2].grad()};
  if (c.mask_learns) results.push_back(options.attn_mask.grad());
  return results;
}

void check_case(const AttentionCase& c, DType type = DType::f32, double bound = 3e-6) {
  Fallbacks fallbacks;
  const std::vector<Tensor> got = attend(c, gpu(), type), expected = attend(c, cpu_device(), DType::f64);
  CHECK(fallbacks.ops.empty());
  const std::string names[] = {"result", "gradient of query", "gradient of key", "gradient of value",
                               "gradient of mask"};
  for (size_t i = 0; i < got.size(); ++i)
    CHECK_MESSAGE(distance(got[i], expected[i]) < bound,
                  names[i] << " of " << c.queries << " x " << c.keys << " x " << c.features << ", causal "
                           << c.causal << ", cap " << c.softcap << ", " << dtype_name(type));
}

const AttentionCase kCases[] = {{1, 1, 5, 7, 8, 8, false, false},
                                {2, 3, 70, 70, 64, 64, true, true},
                                {2, 2, 33, 130, 32, 20, true, false},
                                {1, 2, 70, 40, 64, 36, false, true},
                                {1, 1, 1, 3, 4, 4, false, false},
                                {2, 3, 70, 37, 32, 32, false, true, {2, 3, 70, 37}},
                                {2, 3, 37, 70, 64, 32, true, false, {37, 70}},
                                {2, 2, 33, 40, 32, 36, false, false, {2, 1, 1, 40}, DType::boolean},
                                {2, 3, 70, 33, 64, 64, false, true, {1, 3, 70, 33}, DType::boolean},
                                {2, 3, 37, 70, 32, 64, false, true, {}, DType::f32, 0.3},
                                {1, 2, 70, 37, 64, 64, true, false, {37}, DType::boolean, 0.6},
                                {1, 1, 5, 7, 8, 8, false, false, {}, DType::f32, 1}};

TEST_CASE("attention and its gradients") {
  for (const AttentionCase& c : kCases) check_case(c);
}

TEST_CASE("attention with large heads, and with feature counts that are not multiples of 4") {
  const AttentionCase cases[] = {
      {1, 2, 37, 40, 256, 200, false, true},
      {2, 1, 40, 37, 132, 256, true, false, {2, 1, 40, 37}, DType::f32, 0.3, 0.6, true},
      {2, 2, 33, 40, 30, 21, true, true},
      {1, 3, 20, 33, 7, 129, false, false, {20, 33}, DType::f32, 0.3, 0.6, true},
      {2, 3, 5, 7, 1, 1, false, true, {3, 5, 7}, DType::boolean}};
  for (const AttentionCase& c : cases) check_case(c);
}

TEST_CASE("attention with large heads adds the gradients of blocks of queries") {
  const AttentionCase cases[] = {{1, 2, 600, 300, 68, 72, true, false},
                                 {1, 1, 300, 700, 72, 68, true, true, {}, DType::f32, 0.2},
                                 {2, 1, 70, 100, 68, 68, true, false},
                                 {1, 1, 2600, 2500, 68, 66, false, false, {2600, 1}}};
  for (const AttentionCase& c : cases) check_case(c, DType::f32, 5e-6);
}

TEST_CASE("attention with a soft cap") {
  const AttentionCase cases[] = {
      {1, 1, 5, 7, 8, 8, false, false, {}, DType::f32, 0, 0.7},
      {2, 3, 70, 70, 64, 64, true, true, {}, DType::f32, 0, 0.2},
      {1, 2, 33, 130, 128, 20, false, true, {2, 33, 1}, DType::f32, 0, 1.5},
      {2, 2, 70, 33, 32, 36, true, false, {2, 1, 70, 33}, DType::boolean, 0.4, 0.5},
      {1, 3, 1, 37, 64, 64, false, false, {}, DType::f32, 0.2, 50}};
  for (const AttentionCase& c : cases) check_case(c);
}

TEST_CASE("the gradient of attention's mask") {
  const AttentionCase cases[] = {{1, 1, 5, 7, 8, 8, false, false, {5, 7}, DType::f32, 0, 0, true},
                                 {2, 3, 70, 37, 32, 64, false, true, {2, 3, 70, 37}, DType::f32, 0, 0, true},
                                 {3, 2, 37, 70, 64, 32, true, false, {2, 37, 70}, DType::f32, 0, 0.6, true},
                                 {3, 2, 67, 33, 32, 36, false, true, {3, 1, 1, 33}, DType::f32, 0.3, 0, true},
                                 {2, 2, 33, 130, 128, 20, true, false, {130}, DType::f32, 0.2, 1.5, true}};
  for (const AttentionCase& c : cases) check_case(c);
}

TEST_CASE("attention of 16-bit operands") {
  Turns turns(3);
  const auto check_both = [&](const AttentionCase& c) {
    if (turns.next()) check_case(c, DType::f16, 2e-3);
    if (turns.next()) check_case(c, DType::bf16, 2e-2);
  };
  for (const AttentionCase& c : kCases) check_both(c);
  check_both({2, 3, 37, 70, 32, 36, true, true, {3, 37, 70}, DType::f32, 0.3, 0.5, true});
  check_both({2, 3, 70, 72, 64, 64, true, true});
  check_both({2, 2, 33, 130, 30, 20, true, false});
  check_both({2, 3, 600, 601, 32, 32, true, true, {}, DType::f32, 0.1});
}

// The largest output of any op, in elements.
class Largest final : public Trace {
 public:
  Largest() : previous_(context().trace) { context().trace = this; }
  ~Largest() override { context().trace = previous_; }
  void ran(const Call& call, uint64_t) override {
    for (const Tensor& x : call.out)
      if (x.defined()) elements = std::max(elements, x.numel());
  }
  void fell_back(const Call&, const char*) override {}
  int64_t elements = 0;

 private:
  Trace* previous_;
};

TEST_CASE("attention allocates no matrix of all scores, forward or backward") {
  Largest largest;
  attend({1, 1, 300, 300, 32, 32, true, false}, gpu(), DType::f32);
  attend({1, 1, 300, 300, 32, 32, false, false, {1, 300}}, gpu(), DType::f32);
  attend({1, 1, 300, 300, 32, 32, false, false, {}, DType::f32, 0.5, 2}, gpu(), DType::f32);
  attend({1, 1, 300, 300, 30, 29, true, true}, gpu(), DType::f32);
  attend({1, 1, 300, 300, 256, 256, true, false}, gpu(), DType::f32);
  CHECK(largest.elements >= 300 * 32);
  CHECK(largest.elements < 300 * 300);
}

}  // namespace
}  // namespace lunagrad::tests

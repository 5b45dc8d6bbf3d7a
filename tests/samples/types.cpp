// Which dtypes the ops take for the real inputs of their samples. Examples of records say it themselves.
#include <algorithm>
#include <iterator>
#include <set>
#include <sstream>

#include "tests/samples/samples.h"

namespace lunagrad::tests {
namespace {

std::set<std::string> words(const char* text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

// Ops of floating types alone.
const std::set<std::string> kFloating = words(
    "adaptive_avg_pool1d adaptive_avg_pool2d adaptive_max_pool2d avg_pool1d avg_pool2d batch_norm "
    "_gather_with bernoulli col2im conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d "
    "cosine_similarity cross_entropy ctc_loss "
    "dropout group_norm gru gru_cell im2col instance_norm interpolate l1_loss layer_norm linear "
    "log_softmax logsumexp lstm lstm_cell max_pool1d max_pool2d mean mse_loss multinomial norm "
    "normalize poisson prelu rms_norm rnn_relu rnn_relu_cell rnn_tanh rnn_tanh_cell rope "
    "scaled_dot_product_attention softmax softmin std var");

// Ops of numbers: they refuse bool.
const std::set<std::string> kNumbers = words(
    "_clamp_bounds addmm baddbmm bmm dot "
    "gaussian_nll_loss huber_loss margin_ranking_loss matmul mm mv smooth_l1_loss "
    "triplet_margin_loss");

// Samples of einsum that multiply no matrices, and so take bool.
const std::set<std::string> kEinsumsOfBool = {
    "einsum([3, 3, 2])",      "einsum([3, 2, 3])",      "einsum([2, 3])", "einsum([2, 3], [2, 3])",
    "einsum([1, 3], [2, 3])", "einsum([2, 1], [3, 4])", "einsum([], [3])"};

bool has_fraction(const Values& params) {
  return std::any_of(params.begin(), params.end(), [](const Value& value) {
    return value.kind == Value::Kind::real && value.f != double(int64_t(value.f));
  });
}

}  // namespace

bool takes(const Sample& sample, DType type) {
  const auto is = [&](Kind kind) { return [kind](const SampleInput& input) { return input.kind == kind; }; };
  if (std::none_of(sample.inputs.begin(), sample.inputs.end(), is(Kind::real))) return true;
  if (std::any_of(sample.inputs.begin(), sample.inputs.end(), is(Kind::complex)))
    return true;  // real operands are promoted to complex
  const std::string& op = sample.op;
  if (op == "complex" || op == "polar" || op == "view_as_complex")
    return type == DType::f32 || type == DType::f64;
  if (is_floating(type)) return true;
  if (sample.types == OpExample::Types::floating) return false;
  if (sample.types == OpExample::Types::number && type == DType::boolean) return false;
  if (kFloating.count(op)) return false;
  if (op == "vector_norm") return sample.params.size() > 3;  // with a dtype to compute in
  if (op == "masked_fill" && has_fraction(sample.params)) return false;
  if ((op == "_add_alpha" || op == "_sub_alpha") && (type == DType::boolean || has_fraction(sample.params)))
    return false;
  if (type != DType::boolean) return true;
  if (op == "_div_rounding") return sample.params[0].i == 0;  // true division
  if (op == "einsum") return kEinsumsOfBool.count(name_of(sample));
  if (op == "kl_div") return sample.params.empty();                                 // log_target subtracts
  if (op == "tensordot") return !sample.params.empty() && sample.params[0].i == 0;  // without a contraction
  return !kNumbers.count(op);
}

}  // namespace lunagrad::tests

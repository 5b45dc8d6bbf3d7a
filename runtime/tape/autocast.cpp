#include "runtime/tape/autocast.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "runtime/primitives.h"
#include "runtime/tape/finite.h"

namespace lunagrad {
namespace {

enum class Policy : uint8_t {
  narrow,  // in the region's 16-bit type
  wide,    // in f32
  widest,  // in the widest type of the floating operands
  own,     // the op knows by itself
};

// PyTorch's lists for CUDA (torch.autocast, "CUDA Ops that can autocast"), and beside them the norms and
// log-sum-exp that it computes in f32 inside their kernels.
constexpr std::string_view kNarrow =
    "matmul mm bmm mv addmm baddbmm linear bilinear conv1d conv2d conv3d conv_transpose1d conv_transpose2d "
    "conv_transpose3d prelu rnn_tanh rnn_relu lstm gru rnn_tanh_cell rnn_relu_cell lstm_cell gru_cell "
    "scaled_dot_product_attention";
constexpr std::string_view kWide =
    "acos asin cosh sinh tan exp exp2 expm1 log log10 log1p log2 logaddexp pow reciprocal rsqrt softplus "
    "cumsum cumprod prod sum norm vector_norm normalize logsumexp softmax softmin log_softmax layer_norm "
    "group_norm batch_norm instance_norm rms_norm cross_entropy nll_loss mse_loss l1_loss smooth_l1_loss "
    "huber_loss kl_div binary_cross_entropy binary_cross_entropy_with_logits cosine_similarity "
    "cosine_embedding_loss triplet_margin_loss margin_ranking_loss hinge_embedding_loss soft_margin_loss "
    "poisson_nll_loss gaussian_nll_loss ctc_loss";

using Policies = std::unordered_map<std::string_view, Policy>;

void add_names(Policies& policies, std::string_view names, Policy policy) {
  while (!names.empty()) {
    const size_t end = std::min(names.find(' '), names.size());
    policies.emplace(names.substr(0, end), policy);
    names.remove_prefix(std::min(end + 1, names.size()));
  }
}

bool is_composition(const Op& op) { return op.compose && !op.cpu && !op.shape; }

Policy policy_of(const Op& op) {
  static const Policies listed = [] {
    Policies policies;
    add_names(policies, kNarrow, Policy::narrow);
    add_names(policies, kWide, Policy::wide);
    return policies;
  }();
  if (const auto found = listed.find(op.name); found != listed.end()) return found->second;
  const bool meets = op.elementwise >= 0 || op.hidden() || op.writes_inputs || is_composition(op);
  return meets ? Policy::own : Policy::widest;
}

// Whether the type of an operand is autocast's to choose: f64 is the user's.
bool is_castable(const Tensor& x) {
  return x.defined() && !x.is_number() && (is_half(x.dtype()) || x.dtype() == DType::f32);
}

DType widest_of(const Operands& in) {
  DType widest = DType::boolean;
  for (const Tensor& x : in)
    if (is_castable(x)) widest = promote(widest, x.dtype());
  return widest;
}

}  // namespace

Tensor Autocast::narrowed(const Tensor& x) {
  if (x.dtype() != DType::f32 || !x.requires_grad() || !x.is_leaf() || x.body()->base) return to(x, type_);
  Cast& cast = weights_[x.id()];
  const uint32_t version = x.storage().version;
  // A cast that was made with the tape off has no gradient to give.
  const bool fits = cast.value.defined() && cast.version == version &&
                    (cast.value.requires_grad() || !context().grad_enabled);
  if (!fits) cast = {x, version, to(x, type_)};
  return cast.value;
}

void Autocast::run(Call& call) {
  const Policy policy = policy_of(*call.op);
  if (policy == Policy::own && is_composition(*call.op)) {
    call.out = call.op->compose(call);
    return;
  }
  const std::shared_ptr<Autocast> self = context().autocast;
  const UseAutocast off(nullptr);
  const DType widest = policy == Policy::widest ? widest_of(call.in) : DType::f32;
  for (Tensor& x : call.in) {
    if (policy == Policy::own || !is_castable(x)) continue;
    x = policy == Policy::narrow ? narrowed(x) : to(x, widest);
  }
  lunagrad::run(call);
}

std::shared_ptr<Autocast> make_autocast(DType type) {
  if (!is_half(type)) fail("autocast: f16 or bf16 expected (got ", type, ")");
  return std::make_shared<Autocast>(type);
}

bool unscale_gradients(const TensorList& gradients, double factor) {
  static const Op* const mul_op = find_op("mul");
  const NoGrad off;
  for (const Tensor& gradient : gradients) apply_in_place(*mul_op, {gradient, Tensor::number(factor)});
  return all_finite(gradients);
}

}  // namespace lunagrad

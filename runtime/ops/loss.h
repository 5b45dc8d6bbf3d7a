#pragma once
// What the loss files share: the parameter `reduction`, its effect, and the check of the target's shape. Any
// thread.
#include <span>

#include "runtime/ops.h"

namespace lunagrad {

inline const ParamSpec kReduction{
    "reduction", ParamKind::choice, int(Reduction::mean), {"none", "mean", "sum"}};

inline Reduction reduction_of(const Call& call, int at = 0) { return Reduction(call.integer(at)); }

inline Tensor reduced(const Tensor& loss, Reduction reduction) {
  if (reduction == Reduction::none) return loss;
  return reduction == Reduction::mean ? mean(loss) : sum(loss);
}

// The type that a loss of operands of that type is computed in.
inline DType computed_in(DType type) { return is_half(type) ? DType::f32 : type; }

std::span<const Op* const> class_loss_ops();  // cross_entropy and nll_loss (cross_entropy.cpp)

// Losses of two elements x and t that are folded without a tensor of them (folded_loss.cpp).
enum class LossTerm : uint8_t {
  huber,           // _huber(x - t), with the parameter delta
  cross_entropy,   // _bce(x, t)
  divergence,      // t (log t - x), 0 where t is 0
  log_divergence,  // exp(t) (t - x)
};
Tensor folded_loss(LossTerm, const Tensor& x, const Tensor& target, double parameter, Reduction);
const Op& folded_loss_op();

// Broadcasting would make 16 losses of shapes (4, 1) and (4).
inline void need_same_shape(const char* op, const Tensor& input, const Tensor& target) {
  if (!(input.shape() == target.shape()))
    fail(op, ": input has shape ", input.shape(), " and target ", target.shape(), "; they must be the same");
}

}  // namespace lunagrad

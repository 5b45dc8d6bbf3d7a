#pragma once
// What the loss files share: the parameter `reduction`, its effect, and the check of the target's shape. Any
// thread.
#include <algorithm>
#include <span>
#include <vector>

#include "runtime/core/row_reduction.h"
#include "runtime/cpu/parallel.h"
#include "runtime/cpu/row_kernel.h"
#include "runtime/ops.h"

namespace lunagrad {

inline const ParamSpec kReduction{
    "reduction", ParamKind::choice, int(Reduction::mean), {"none", "mean", "sum"}};

inline Reduction reduction_of(const Call& call, int at = 0) { return Reduction(call.integer(at)); }

inline Tensor reduced(const Tensor& loss, Reduction reduction) {
  if (reduction == Reduction::none) return loss;
  return reduction == Reduction::mean ? mean(loss) : sum(loss);
}

// The type in which a loss of operands of this type is computed.

std::span<const Op* const> class_loss_ops();  // cross_entropy and nll_loss (cross_entropy.cpp)

// Elementwise losses of x and t that are reduced without a tensor of the losses (reduced_loss.cpp).
enum class LossTerm : uint8_t {
  huber,           // _huber(x - t), with the parameter delta
  cross_entropy,   // _bce(x, t)
  divergence,      // t (log t - x), 0 where t is 0
  log_divergence,  // exp(t) (t - x), 0 where t is -inf
};
Tensor reduced_loss(LossTerm, const Tensor& x, const Tensor& target, double parameter, Reduction);
const Op& reduced_loss_op();

// The kernel of the mean or sum of an elementwise loss. All elements are one row. Each part of the row has
// its own sum; the sums are added in order.
template <class T>
class PairLossKernel : public RowKernel {
 public:
  PairLossKernel(const Call& call, bool mean)
      : RowKernel(1, call.input(0).numel()),
        call_(call),
        mean_(mean),
        sums_(size_t((columns() + kLongestRow - 1) / kLongestRow)) {}

  int64_t parts() const { return int64_t(sums_.size()); }
  void run(int64_t part, const void* const* in, void* out) const override {
    const int64_t count = std::min(kLongestRow, columns() - part * kLongestRow);
    sums_[size_t(part)] = sum_of(static_cast<const T*>(in[0]), static_cast<const T*>(in[1]), count);
    if (out) *static_cast<T*>(out) = T(result());
  }
  void finish() const override {
    if (parts() != 1) write();
  }
  // Computes the whole call without a group, for contiguous operands of type T.
  void run_all(const T* x, const T* target) const {
    parallel_for(parts(), 1, [&](int64_t begin, int64_t end) {
      for (int64_t part = begin; part < end; ++part) {
        const void* const in[] = {x + part * kLongestRow, target + part * kLongestRow};
        run(part, in, nullptr);
      }
    });
    write();
  }

 protected:
  virtual double sum_of(const T* x, const T* target, int64_t count) const = 0;

 private:
  double result() const {
    double total = 0;
    for (const double sum : sums_) total += sum;
    return mean_ ? total / double(columns()) : total;
  }
  void write() const {
    const Tensor& out = call_.output();
    visit_dtype(out.dtype(), [&]<class Out>() { *out.data<Out>() = convert<Out>(result()); });
  }

  const Call& call_;
  bool mean_;
  mutable std::vector<double> sums_;  // one for each part
};

// Broadcasting shapes (4, 1) and (4) would give 16 losses.
inline void need_same_shape(const char* op, const Tensor& input, const Tensor& target) {
  if (!(input.shape() == target.shape()))
    fail(op, ": input has shape ", input.shape(), " and target ", target.shape(), "; they must be the same");
}

}  // namespace lunagrad

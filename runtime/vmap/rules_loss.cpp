// Losses: the loss of each element of all samples, then the reduction over the dims of a sample.
#include "runtime/vmap/rules.h"

namespace lunagrad {
namespace {

// `each` is [N, ...], the losses of the elements.
Tensor reduced(const Tensor& each, Reduction reduction) {
  if (reduction == Reduction::none || (each.ndim() == 1 && reduction == Reduction::sum)) return each;
  if (each.ndim() == 1) return each;
  Dims dims;
  for (int d = 1; d < each.ndim(); ++d) dims.push_back(d);
  return reduction == Reduction::sum ? sum(each, dims) : mean(each, dims);
}

bool squared_error(const BatchedCall& call, Operands& out) {
  if (call.ndim(0) != call.ndim(1)) return false;
  const Tensor each = call.run({call.spread(0), call.spread(1)}, {Value(int64_t(Reduction::none))})[0];
  out = {reduced(each, Reduction(call.call.integer(0)))};
  return true;
}

// Covers class ids without weights. Samples are rows [C] with one id, or [B, C, ...] with ids [B, ...]. `out`
// gets the op's results for each row, before a reduction.
bool each_row(const BatchedCall& call, Operands& out) {
  if (call.has(2) || call.size == 0) return false;
  const int ndim = call.ndim(0);
  if (ndim == 0 || call.ndim(1) != ndim - 1) return false;
  Tensor input = call.spread(0), target = call.spread(1);
  if (ndim >= 2) {
    Shape shape = input.shape();
    shape[1] *= shape[0];
    shape.erase(0);
    input = reshape(input, shape);
    Shape flat = target.shape();
    flat[1] *= flat[0];
    flat.erase(0);
    target = reshape(target, flat);
  }
  Values params = call.call.params;
  params[1] = Value(int64_t(Reduction::none));
  out = call.run({input, target, Tensor()}, std::move(params));
  return true;
}
// How many rows of each sample count.
Tensor counted(const BatchedCall& call, DType type) {
  return reduced(to(ne(call.spread(1), Tensor::number(call.call.integer(0))), type), Reduction::sum);
}
Tensor reduced_rows(const BatchedCall& call, const Tensor& losses) {
  const auto reduction = Reduction(call.call.integer(1));
  const Tensor each = reshape(losses, call.spread(1).shape());
  if (reduction == Reduction::none) return each;
  const Tensor total = reduced(each, Reduction::sum);
  return reduction == Reduction::sum ? total : total / counted(call, total.dtype());
}

bool cross_entropy_rule(const BatchedCall& call, Operands& out) {
  Operands rows;
  if (!each_row(call, rows)) return false;
  out = {reduced_rows(call, rows[0]), reshape(rows[1], call.spread(1).shape())};
  return true;
}

// The second result is the weight of the rows, for a mean only.
bool nll_rule(const BatchedCall& call, Operands& out) {
  Operands rows;
  if (!each_row(call, rows)) return false;
  const Tensor loss = reduced_rows(call, rows[0]);
  const bool mean = Reduction(call.call.integer(1)) == Reduction::mean;
  out = {loss, mean ? counted(call, loss.dtype()) : zeros({call.size, 0}, loss.dtype(), loss.device())};
  return true;
}

}  // namespace

std::span<const NamedRule> loss_rules() {
  static constexpr NamedRule rules[] = {
      {"mse_loss", squared_error}, {"_cross_entropy", cross_entropy_rule}, {"_nll_loss", nll_rule}};
  return rules;
}

}  // namespace lunagrad

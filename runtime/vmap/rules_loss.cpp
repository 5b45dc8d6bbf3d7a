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

// Class ids and no weights; samples are rows [C] with one id, or [B, C, ...] with ids [B, ...].
bool classes(const BatchedCall& call, Operands& out) {
  if (call.has(2) || call.size == 0 || is_floating(call.call.input(1).dtype())) return false;
  const int ndim = call.ndim(0);
  if (ndim == 0 || call.ndim(1) != ndim - 1) return false;
  Tensor input = call.spread(0), target = call.spread(1);
  const Shape ids = target.shape();
  if (ndim >= 2) {
    Shape shape = input.shape();
    shape[1] *= shape[0];
    shape.erase(0);
    input = reshape(input, shape);
    Shape flat = ids;
    flat[1] *= flat[0];
    flat.erase(0);
    target = reshape(target, flat);
  }
  Values params = call.call.params;
  const auto reduction = Reduction(call.call.integer(1));
  params[1] = Value(int64_t(Reduction::none));
  const Tensor each = reshape(call.run({input, target, Tensor()}, std::move(params))[0], ids);
  if (reduction == Reduction::none) {
    out = {each};
    return true;
  }
  const Tensor total = reduced(each, Reduction::sum);
  if (reduction == Reduction::sum) {
    out = {total};
    return true;
  }
  const Tensor counts = to(ne(call.spread(1), Tensor::number(call.call.integer(0))), total.dtype());
  out = {total / reduced(counts, Reduction::sum)};
  return true;
}

}  // namespace

std::span<const NamedRule> loss_rules() {
  static constexpr NamedRule rules[] = {
      {"mse_loss", squared_error}, {"cross_entropy", classes}, {"nll_loss", classes}};
  return rules;
}

}  // namespace lunagrad

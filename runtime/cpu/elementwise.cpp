#include "runtime/cpu/elementwise.h"

#include "runtime/ops/elementwise.h"

namespace lunagrad {
namespace {

double load(const Tensor& x, int64_t offset) {
  return visit_dtype(x.dtype(), [&]<class T>() { return convert<double>(x.data<T>()[offset]); });
}

void store(const Tensor& x, int64_t offset, double value) {
  visit_dtype(x.dtype(), [&]<class T>() { x.data<T>()[offset] = convert<T>(value); });
}

}  // namespace

void run_elementwise(const Call& call) {
  const ElementwiseUse use = elementwise_use(*call.op);
  const RowTraits& traits = row_traits(use.row);
  double params[kMaxRowParams] = {};
  pack_params(call, params);
  const Tensor& out = call.output();
  const Shape& shape = out.shape();
  Dims index(shape.size(), 0);
  for (int64_t n = 0; n < out.numel(); ++n) {
    double in[5] = {};
    for (size_t k = 0; k < call.in.size(); ++k) {
      const Tensor& x = call.in[k];
      if (!x.defined()) continue;
      int64_t at = 0;
      for (int d = 0; d < x.ndim(); ++d)
        if (x.size(d) != 1) at += index[d + shape.size() - x.ndim()] * x.strides()[d];
      in[k] = load(x, at);
    }
    int64_t at = 0;
    for (int d = 0; d < shape.size(); ++d) at += index[d] * out.strides()[d];
    const bool gradient = use.gradient >= 0;
    const double operands[3] = {in[gradient], in[gradient + 1], in[gradient + 2]};
    const double value = evaluate_reference(use, operands, in[traits.arity + 1], params);
    store(out, at, gradient ? in[0] * value : value);
    for (int d = shape.size() - 1; d >= 0 && ++index[d] == shape[d]; --d) index[d] = 0;
  }
}

}  // namespace lunagrad

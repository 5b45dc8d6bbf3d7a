// Activations that are more than a row of elementwise.def: glu, prelu, softmin.
#include "runtime/ops/elementwise.h"
#include "runtime/ops/families.h"

namespace lunagrad {
namespace {

Operands glu_compose(const Call& call) {
  const Tensor& x = call.input(0);
  if (x.ndim() == 0) fail("glu: a scalar tensor cannot be halved");
  const int dim = normalize_dim("glu", call.integer(0), x.shape());
  if (x.size(dim) % 2 != 0) fail("glu: dim ", dim + 1, " of shape ", x.shape(), " cannot be halved");
  const int64_t half = x.size(dim) / 2;
  return {narrow(x, dim, 0, half) * sigmoid(narrow(x, dim, half, half))};
}
const Op kGlu{.name = "glu",
              .doc = "The first half of a dim times the sigmoid of the second.",
              .inputs = {{"input"}},
              .params = {{"dim", ParamKind::dim, -1}},
              .compose = glu_compose};

Operands prelu_compose(const Call& call) {
  const Tensor &x = call.input(0), &weight = call.input(1);
  if (weight.ndim() > 1) fail("prelu: the weight must have one dim (got shape ", weight.shape(), ")");
  if (!is_floating(x.dtype())) fail("prelu: a floating type is needed (got ", x.dtype(), ")");
  const int64_t channels = x.ndim() > 1 ? x.size(1) : 1;
  if (weight.numel() != 1 && weight.numel() != channels)
    fail("prelu: a weight of ", weight.numel(), " elements does not fit shape ", x.shape(), ", which has ",
         channels, x.ndim() > 1 ? " channels in dim 2" : " channel");
  Shape shape;
  if (weight.numel() != 1) shape = Shape(x.ndim() - 1, 1), shape[0] = channels;
  return {apply1(elementwise_op(Row::_prelu), {x, reshape(weight, shape)})};
}
const Op kPrelu{
    .name = "prelu",
    .doc = "x where positive, else weight x; the weight has one element, or one for each of dim 2.",
    .inputs = {{"input"}, {"weight"}},
    .compose = prelu_compose};

Operands softmin_compose(const Call& call) { return {softmax(-call.input(0), int(call.integer(0)))}; }
const Op kSoftmin{.name = "softmin",
                  .doc = "softmax of the negative elements: the smallest get the most.",
                  .inputs = {{"input"}},
                  .params = {{"dim", ParamKind::dim, {}}},
                  .compose = softmin_compose};

}  // namespace

Tensor glu(const Tensor& x, int dim) { return apply1(kGlu, {x}, {dim}); }
Tensor prelu(const Tensor& x, const Tensor& weight) { return apply1(kPrelu, {x, weight}); }
Tensor softmin(const Tensor& x, int dim) { return apply1(kSoftmin, {x}, {dim}); }

std::span<const Op* const> activation_ops() {
  static const Op* const ops[] = {&kGlu, &kPrelu, &kSoftmin};
  return ops;
}

}  // namespace lunagrad

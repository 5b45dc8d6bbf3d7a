// Activations that are not a row of elementwise.def: glu, prelu, softmin; and the activations fused into
// other ops.
#include "runtime/ops/elementwise/activation.h"

#include "runtime/elementwise/elementwise.h"
#include "runtime/ops/families.h"
#include "runtime/tape/tape.h"

namespace lunagrad {
namespace {

Row row_of(Activation activation) {
  constexpr Row kRows[] = {{}, Row::relu, Row::tanh, Row::sigmoid};
  return kRows[size_t(activation)];
}
const Op& gradient_op(Activation activation) {
  static const Op* const kOps[] = {nullptr, find_op("_relu_grad"), find_op("_tanh_grad"),
                                   find_op("_sigmoid_grad")};
  return *kOps[size_t(activation)];
}

Operands glu_compose(const Call& call) {
  const Tensor& x = call.input(0);
  if (x.ndim() == 0) fail("glu: a scalar tensor cannot be halved");
  const int dim = normalize_dim("glu", call.integer(0), x.shape());
  if (x.size(dim) % 2 != 0) fail("glu: dim ", dim + 1, " of shape ", x.shape(), " cannot be halved");
  const int64_t half = x.size(dim) / 2;
  const Operands halves = apply(*find_op("_split"), {x}, {dim, Dims{half, half}});
  return {halves[0] * sigmoid(halves[1])};
}
const Op kGlu{.name = "glu",
              .doc = "The first half of dim times the sigmoid of the second half.",
              .inputs = {{"input"}},
              .params = {{"dim", ParamKind::dim, -1}},
              .compose = glu_compose,
              .family = OpFamily::elementwise};

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
const Op kPrelu{.name = "prelu",
                .doc =
                    "input where it is positive, else weight input; weight has one element, or one for each "
                    "position of dim 2.",
                .inputs = {{"input"}, {"weight"}},
                .compose = prelu_compose,
                .family = OpFamily::elementwise,
                .autocast = AutocastPolicy::lower_precision};

Operands softmin_compose(const Call& call) { return {softmax(-call.input(0), int(call.integer(0)))}; }
const Op kSoftmin{.name = "softmin",
                  .doc = "softmax(-input) along dim: the smallest elements get the most.",
                  .inputs = {{"input"}},
                  .params = {{"dim", ParamKind::dim, {}}},
                  .compose = softmin_compose,
                  .family = OpFamily::normalization,
                  .autocast = AutocastPolicy::f32};

}  // namespace

ParamSpec activation_param() {
  return {"activation", ParamKind::choice, int64_t(Activation::none), {"none", "relu", "tanh", "sigmoid"}};
}
Activation activation_of(const Values& params) { return Activation(params[params.size() - 1].i); }

bool has_activation(const Call& call) { return activation_of(call.params) != Activation::none; }
bool activates_apart(const Call& call) {
  if (!has_activation(call)) return false;
  const DType type = call.input(0).dtype();
  return is_complex(type) || (is_16bit_float(type) && &call.device() == &cpu_device());
}

Tensor activate(const Tensor& x, Activation activation) {
  return activation == Activation::none ? x : apply1(elementwise_op(row_of(activation)), {x});
}

Tensor gradient_before_activation(const Backward& b) {
  const Activation activation = activation_of(b.node().attributes->params);
  if (activation == Activation::none) return b.grad();
  const Tensor unread, result = b.output();
  if (b.create_graph())
    return gradient_expression(int(row_of(activation)), 0, b.grad(), {&unread, 1}, result, nullptr);
  return apply1(gradient_op(activation), {b.grad(), unread, result});
}

StretchKernel activation_kernel(Activation activation, DType type) {
  if (activation == Activation::none) return nullptr;
  return row_kernels(int(row_of(activation))).value[type == DType::f64];
}

Tensor glu(const Tensor& x, int dim) { return apply1(kGlu, {x}, {dim}); }
Tensor prelu(const Tensor& x, const Tensor& weight) { return apply1(kPrelu, {x, weight}); }
Tensor softmin(const Tensor& x, int dim) { return apply1(kSoftmin, {x}, {dim}); }

std::span<const Op* const> activation_ops() {
  static const Op* const ops[] = {&kGlu, &kPrelu, &kSoftmin};
  return ops;
}

}  // namespace lunagrad

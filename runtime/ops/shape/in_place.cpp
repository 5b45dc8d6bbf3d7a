#include "runtime/core/in_place.h"

#include "runtime/ops/families.h"

namespace lunagrad {
namespace {

// The public name of a long form.
const char* name_of(const Op& op) { return op.short_form ? op.short_form : op.name; }

// The tensor itself becomes the view: all handles of it see the new layout. Other views of its memory stay.
Tensor become(const Tensor& x, const Tensor& view) {
  TensorBody &body = *x.body(), &made = *view.body();
  body.layout = made.layout;
  body.offset = made.offset;
  body.node = made.node;
  body.output = made.output;
  return x;
}

}  // namespace

bool has_composed_in_place_form(const Op& op) { return op.in_place != InPlaceForm::none; }

Tensor run_in_place(const Op& op, Operands in, Values params) {
  const char* const name = name_of(op);
  const Tensor x = in[0];
  if (!x.defined() || x.is_number()) fail(name, "_: the target must be a tensor");
  check_in_place(name, x);
  if (op.in_place == InPlaceForm::becomes_view)
    return become(x, apply1(op, std::move(in), std::move(params)));
  if (overlaps(x.shape(), x.strides()))
    fail(name,
         "_: elements of the target share memory (an expanded tensor, or windows that overlap); clone() it "
         "first");
  // The gradients may need the value before the write.
  bool recorded = false;
  if (context().grad_enabled)
    for (const Tensor& operand : in) recorded |= operand.defined() && operand.requires_grad();
  if (recorded) in[0] = clone(x);
  const Tensor y = apply1(op, std::move(in), std::move(params));
  if (!(y.shape() == x.shape()))
    fail(name, "_: a result of shape ", y.shape(), " does not fit the target of shape ", x.shape());
  if ((is_differentiable(y.dtype()) && !is_differentiable(x.dtype())) ||
      (is_complex(y.dtype()) && !is_complex(x.dtype())))
    fail(name, "_: a result of type ", y.dtype(), " cannot be written into a tensor of type ", x.dtype());
  return y.same(x) ? x : copy_(x, y);
}

}  // namespace lunagrad

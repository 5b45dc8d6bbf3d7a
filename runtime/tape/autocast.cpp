#include "runtime/tape/autocast.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "runtime/core/called.h"
#include "runtime/core/primitives.h"
#include "runtime/tape/finite.h"

namespace lunagrad {
namespace {

AutocastPolicy policy_of(const Op& op) {
  if (op.autocast != AutocastPolicy::by_kind) return op.autocast;
  const bool own = op.elementwise >= 0 || op.hidden() || op.writes_inputs || op.is_composition();
  return own ? AutocastPolicy::own : AutocastPolicy::promote;
}

// Whether autocast may cast an operand: f64 stays as the user chose it.
bool is_castable(const Tensor& x) {
  return x.defined() && !x.is_number() && (is_16bit_float(x.dtype()) || x.dtype() == DType::f32);
}

DType promoted_type(const Operands& in) {
  DType promoted = DType::boolean;
  for (const Tensor& x : in)
    if (is_castable(x)) promoted = promote(promoted, x.dtype());
  return promoted;
}

}  // namespace

Tensor Autocast::cached_cast(const Tensor& x) {
  if (x.dtype() != DType::f32 || !x.requires_grad() || !x.is_leaf() || x.body()->base) return to(x, type_);
  Cast& cast = weights_[x.id()];
  const uint32_t version = x.storage().version;
  // A cast that was made with the tape off has no gradient.
  const bool fits = cast.value.defined() && cast.version == version &&
                    (cast.value.requires_grad() || !context().grad_enabled);
  if (!fits) cast = {x, version, to(x, type_)};
  return cast.value;
}

void Autocast::run(Call& call) {
  using Policy = AutocastPolicy;
  const Policy policy = policy_of(*call.op);
  if (policy == Policy::own && call.op->is_composition()) {
    call.out = compose(call);
    return;
  }
  const std::shared_ptr<Autocast> self = context().autocast;
  const UseAutocast off(nullptr);
  const DType type = policy == Policy::promote ? promoted_type(call.in) : DType::f32;
  for (Tensor& x : call.in) {
    if (policy == Policy::own || !is_castable(x)) continue;
    x = policy == Policy::lower_precision ? cached_cast(x) : to(x, type);
  }
  lunagrad::run(call);
}

std::shared_ptr<Autocast> make_autocast(DType type) {
  if (!is_16bit_float(type)) fail("autocast: f16 or bf16 expected (got ", type, ")");
  return std::make_shared<Autocast>(type);
}

bool unscale_gradients(const TensorList& gradients, double factor) {
  static const Op* const mul_op = find_op("mul");
  const NoGrad off;
  for (const Tensor& gradient : gradients) apply_in_place(*mul_op, {gradient, Tensor::number(factor)});
  return all_finite(gradients);
}

}  // namespace lunagrad

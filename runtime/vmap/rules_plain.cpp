// Ops that act on each element, or on trailing dims that they count from the end: the batch is one more
// leading dim. Their first operand is batched. If other operands are batched, the rule does not cover the
// call.
#include <algorithm>
#include <string_view>

#include "runtime/elementwise/elementwise.h"
#include "runtime/vmap/rules.h"

namespace lunagrad {
namespace {

// Only operand 0 is batched.
bool plain(const BatchedCall& call, Operands& out) {
  if (call.batched != 1) return false;
  out = call.run(call.values);
  return true;
}

// The same for ops that need a dim to act on.
bool plain_with_dims(const BatchedCall& call, Operands& out) { return call.ndim(0) >= 1 && plain(call, out); }
bool plain_matrix(const BatchedCall& call, Operands& out) { return call.ndim(0) >= 2 && plain(call, out); }

// Adds dims of size 1 after N if the samples have fewer dims than the result of broadcasting.
Tensor padded(const Tensor& value, int ndim) {
  if (value.ndim() == ndim + 1) return value;
  Shape shape = value.shape();
  while (shape.size() < ndim + 1) shape.insert(1, 1);
  return reshape(value, shape);
}

int most_dims(const BatchedCall& call) {
  int most = 0;
  for (size_t i = 0; i < call.values.size(); ++i)
    if (call.has(int(i))) most = std::max(most, call.ndim(int(i)));
  return most;
}

Operands aligned(const BatchedCall& call) {
  const int most = most_dims(call);
  Operands in = call.values;
  for (size_t i = 0; i < in.size(); ++i)
    if (call.is(int(i))) in[i] = padded(in[i], most);
  return in;
}

bool broadcasting(const BatchedCall& call, Operands& out) {
  out = call.run(aligned(call));
  return true;
}

bool types_differ(const BatchedCall& call) {
  DType type = DType::boolean;
  bool first = true;
  for (const Tensor& x : call.values) {
    if (!x.defined()) continue;
    if (!first && x.dtype() != type) return true;
    type = x.dtype();
    first = false;
  }
  return false;
}

}  // namespace

// In type promotion a sample without dims ranks below tensors with dims, but its value [N] does not. So its
// value is cast to the result's type first.
bool elementwise_rule(const BatchedCall& call, Operands& out) {
  Operands in = aligned(call);
  if (call.op().elementwise >= 0 && most_dims(call) > 0 && types_differ(call)) {
    Call sample = call.call;
    call.op().shape(sample);
    DType meeting = sample.out[0].dtype();
    if (meeting == DType::boolean) meeting = computing_type(call.call);
    const int condition = std::string_view(call.op().name) == "where" ? 0 : -1;
    for (size_t i = 0; i < in.size(); ++i)
      if (int(i) != condition && call.is(int(i)) && call.ndim(int(i)) == 0 && in[i].dtype() != meeting &&
          (is_complex(meeting) || !is_complex(in[i].dtype())))
        in[i] = to(in[i], meeting);
  }
  out = call.run(std::move(in));
  return true;
}

std::span<const NamedRule> plain_rules() {
  static constexpr NamedRule rules[] = {
      {"clone", plain},
      {"_cast", plain},
      {"_real", plain},
      {"_imag", plain},
      {"view_as_real", plain},
      {"view_as_complex", plain_with_dims},
      {"zeros_like", plain},
      {"ones_like", plain},
      {"full_like", plain},
      {"one_hot", plain},
      {"complex", broadcasting},
      {"tril", plain_matrix},
      {"triu", plain_matrix},
      {"layer_norm", plain_with_dims},
      {"rms_norm", plain_with_dims},
      {"_pad", plain},
      {"rope", plain_matrix},
  };
  return rules;
}

}  // namespace lunagrad

#pragma once
// The data that the engine reads from the rows of elementwise.def: numbers, types, which values a gradient
// reads, the packed parameters of a call, and the double-precision reference. The gradient of a row is a
// hidden op of its own (`_tanh_grad`, `_mul_grad_a`). Its operands are g, the operands of the row and y;
// operands that it does not read are undefined. Constant data and pure functions, any thread.
#include "runtime/core/op.h"
#include "runtime/elementwise/row_list.h"

namespace lunagrad {

inline constexpr int kMaxRowParams = 3;

enum class GradientForm : uint8_t { none, passes_g, expression };  // K(0), g itself, or another expression

struct RowTraits {
  const char* name;
  int arity;
  RowTypes types;
  bool boolean_result;
  double lo, hi;  // range of the tests' operands
  std::array<GradientForm, 3> gradients{};
  std::array<Reads, 3> reads{};  // for each gradient: a bit for each operand that it reads, and a bit for y
};
const RowTraits& row_traits(int row);

// A row's value (gradient -1) or one of its gradients.
struct ElementwiseUse {
  int row = -1;
  int gradient = -1;
  explicit operator bool() const { return row >= 0; }
};
ElementwiseUse elementwise_use(const Op&);  // row -1: not elementwise
const Op& elementwise_op(Row);
// Examples of a row: first all operands have one shape, then each operand in turn is broadcast against the
// others.
std::vector<OpExample> row_examples(const Op&);

// The type in which a call is computed: the common type of the operands, with f32 for f16 and bf16 and u8 for
// bool. It is complex if an operand is.
DType computing_type(const Call&);
// The parameters as the expressions take them, in the order of the row; absent bounds are replaced by
// numbers.
void pack_params(const Call&, double* values);

// The row's value in double precision, by the standard library, for x.size() operands. Conditions give 0
// or 1.
double reference_value(const Op&, std::span<const double> x, std::span<const Value> params = {});
// The row's gradient of operand `input` for g = 1.
double reference_gradient(const Op&, int input, std::span<const double> x,
                          std::span<const Value> params = {});
// The same for packed parameters: the row's value, or with use.gradient >= 0 the gradient of that operand for
// g = 1 and the result y.
double evaluate_reference(ElementwiseUse, const double (&operands)[3], double y, const double* params);

// The gradient of operand `input` as recorded tensor ops, for a vjp under create_graph
// (elementwise_gradient.cpp).
Tensor gradient_expression(int row, int input, const Tensor& g, std::span<const Tensor> operands,
                           const Tensor& y, const double* params);
// Which values a gradient reads, found by evaluating its expression (elementwise_gradient.cpp).
struct GradientUse {
  GradientForm form;
  Reads reads;
};
GradientUse gradient_use(int row, int input);

}  // namespace lunagrad

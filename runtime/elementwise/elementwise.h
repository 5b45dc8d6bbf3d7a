#pragma once
// What the rows of elementwise.def are to the rest of the engine: numbers, types, which values a gradient
// reads, the packed parameters of a call, and the double-precision reference. A gradient of a row is an op of
// its own, hidden
// (`_tanh_grad`, `_mul_grad_a`), whose operands are g, the row's operands and y, those it does not read
// undefined. Constant data and pure functions, any thread.
#include "runtime/op.h"

namespace lunagrad {

#define EW1(name, params, types, result, value, gx, lo, hi, doc) name,
#define EW2(name, params, types, result, value, ga, gb, lo, hi, doc) name,
#define EW3(name, params, types, result, value, ga, gb, gc, lo, hi, doc) name,
enum class Row : int {
#include "runtime/elementwise/elementwise.def"
};
#define EW1(name, params, types, result, value, gx, lo, hi, doc) +1
#define EW2(name, params, types, result, value, ga, gb, lo, hi, doc) +1
#define EW3(name, params, types, result, value, ga, gb, gc, lo, hi, doc) +1
inline constexpr int kRowCount = 0
#include "runtime/elementwise/elementwise.def"
    ;

inline constexpr int kMaxRowParams = 3;

enum class RowTypes : uint8_t { kfloat, knumber, kany };           // what it computes in, see elementwise.def
enum class GradientForm : uint8_t { none, passes_g, expression };  // K(0), g itself, or more

struct RowTraits {
  const char* name;
  int arity;
  RowTypes types;
  bool boolean_result;
  double lo, hi;  // range for samples
  std::array<GradientForm, 3> gradients{};
  std::array<Reads, 3> reads{};  // of each gradient: bits of operands, bit of y
};
const RowTraits& row_traits(int row);

// Rows that have a meaning for complex numbers, and those of them whose values are then real.
constexpr bool takes_complex(Row row) {
  switch (row) {
    case Row::add:
    case Row::sub:
    case Row::mul:
    case Row::div:
    case Row::pow:
    case Row::lerp:
    case Row::addcmul:
    case Row::addcdiv:
    case Row::affine:
    case Row::neg:
    case Row::abs:
    case Row::norm_sq:
    case Row::conj:
    case Row::square:
    case Row::reciprocal:
    case Row::sqrt:
    case Row::rsqrt:
    case Row::exp:
    case Row::log:
    case Row::log2:
    case Row::log10:
    case Row::sin:
    case Row::cos:
    case Row::tan:
    case Row::sinh:
    case Row::cosh:
    case Row::tanh:
    case Row::sigmoid:
    case Row::where:
    case Row::isnan:
    case Row::isinf:
    case Row::isfinite:
    case Row::eq:
    case Row::ne:
    case Row::logical_and:
    case Row::logical_or:
    case Row::logical_xor:
    case Row::logical_not:
      return true;
    default:
      return false;
  }
}
constexpr bool is_real_valued(Row row) { return row == Row::abs || row == Row::norm_sq; }

// A row's value (gradient -1) or one of its gradients.
struct ElementwiseUse {
  int row = -1;
  int gradient = -1;
  explicit operator bool() const { return row >= 0; }
};
ElementwiseUse elementwise_use(const Op&);  // row -1: not elementwise
const Op& elementwise_op(Row);

// The type to compute a call in: f16 and bf16 as f32, bool as u8, otherwise the type in which the operands
// meet. Complex as soon as an operand is.
DType computing_type(const Call&);
// The parameters as the expressions take them, in the order of the row, absent bounds replaced.
void pack_params(const Call&, double* values);

// The row's value by the standard library in double; of x.size() operands. 0 or 1 for conditions.
double reference_value(const Op&, std::span<const double> x, std::span<const Value> params = {});
// Its gradient of operand `input` for g = 1.
double reference_gradient(const Op&, int input, std::span<const double> x,
                          std::span<const Value> params = {});
// The same of packed parameters: the value, or for gradient >= 0 that gradient for g = 1 and the result y.
double evaluate_reference(ElementwiseUse, const double (&operands)[3], double y, const double* params);

// For vjp under create_graph (elementwise_gradient.cpp): the gradient of operand `input` as recorded tensor
// ops.
Tensor gradient_expression(int row, int input, const Tensor& g, std::span<const Tensor> operands,
                           const Tensor& y, const double* params);
// Which values the gradient uses, found by evaluating it (elementwise_gradient.cpp).
struct GradientUse {
  GradientForm form;
  Reads reads;
};
GradientUse gradient_use(int row, int input);

}  // namespace lunagrad

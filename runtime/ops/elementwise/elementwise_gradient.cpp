// The gradient columns of elementwise.def evaluated in two more ways: with a type that records which values
// are used, and with tensors, so that a gradient can be differentiated again.
#include "runtime/elementwise/elementwise.h"
#include "runtime/ops/elementwise/vocabulary.h"
#include "runtime/ops/families.h"

namespace lunagrad {
namespace {

// Records what a gradient reads: bit i is operand i, then y, then g.
namespace noting {

constexpr int kResult = 3, kIncoming = 4;

struct Note {
  uint32_t used = 0;
  bool incoming_itself = false;  // exactly g
  bool zero = false;
  Note() = default;
  explicit Note(double constant) : zero(constant == 0) {}
  static Note of(int i) {
    Note n;
    n.used = 1u << i;
    n.incoming_itself = i == kIncoming;
    return n;
  }
};

template <class... Rest>
Note mixed(Rest... parts) {
  Note n;
  n.used = (parts.used | ... | 0u);
  return n;
}

#define UNARY(f) \
  inline Note f(Note a) { return mixed(a); }
#define BINARY(f) \
  inline Note f(Note a, Note b) { return mixed(a, b); }
BINARY(operator+)
BINARY(operator-)
BINARY(operator*)
BINARY(operator/)
UNARY(operator-)
UNARY(operator!)
BINARY(operator==)
BINARY(operator!=)
BINARY(operator<)
BINARY(operator<=)
BINARY(operator>)
BINARY(operator>=)
BINARY(operator&&)
BINARY(operator||)
UNARY(isnan)
UNARY(isinf)
UNARY(isfinite)
UNARY(abs)
UNARY(sign)
UNARY(square)
UNARY(conj)
BINARY(max)
BINARY(min)
UNARY(floor)
UNARY(ceil)
UNARY(round_even)
UNARY(trunc)
BINARY(fmod)
BINARY(remainder)
BINARY(floor_div)
UNARY(sqrt)
UNARY(exp)
UNARY(exp2)
UNARY(expm1)
UNARY(log)
UNARY(log1p)
UNARY(log2)
UNARY(log10)
BINARY(pow)
UNARY(sin)
UNARY(cos)
UNARY(tan)
UNARY(asin)
UNARY(acos)
UNARY(atan)
BINARY(atan2)
UNARY(sinh)
UNARY(cosh)
UNARY(tanh)
UNARY(asinh)
UNARY(acosh)
UNARY(atanh)
UNARY(erf)
UNARY(erfcx)
UNARY(sigmoid)
UNARY(normal_cdf)
UNARY(normal_pdf)
UNARY(digamma)
BINARY(zeta)
UNARY(i0)
UNARY(i1)
UNARY(i0e)
UNARY(i1e)
BINARY(copysign)
inline Note sel(Note c, Note a, Note b) { return mixed(c, a, b); }
#undef UNARY
#undef BINARY

#include "runtime/elementwise/rows.h"

// If the row has a CHOICE, the union of the values that the gradient reads for its two words.
template <class R, int I>
Note note_of() {
  Note all;
  for (double word : {0.0, 1.0}) {
    const double params[kMaxRowParams] = {word, word, word};
    const typename R::template Params<Note> p(params);
    const Note n = R::template gradient<I>(Note::of(kIncoming), Note::of(0), Note::of(1), Note::of(2),
                                           Note::of(kResult), p);
    all.used |= n.used;
    all.incoming_itself = n.incoming_itself;
    all.zero = n.zero;
  }
  return all;
}

}  // namespace noting

// Tensors and constants; the numbers of a script are constants, too. Operations on constants are computed
// immediately, in double precision: no call is recorded, and no tensor of another type or device arises.
namespace expression {

using reference::Real;

struct Term {
  Tensor tensor;  // undefined: the term is the constant
  double constant = 0;
  Term() = default;
  explicit Term(double value) : constant(value) {}
  explicit Term(Real value) : constant(value.v) {}
  explicit Term(bool value) : constant(value) {}
  explicit Term(Tensor t) {
    if (t.is_number())
      constant = t.item();
    else
      tensor = std::move(t);
  }
  bool is_constant() const { return !tensor.defined(); }
  Tensor get() const { return is_constant() ? Tensor::number(constant) : tensor; }
  Real real() const { return Real(constant); }
};

#define INFIX(sign, f)                                                           \
  inline Term operator sign(const Term& a, const Term& b) {                      \
    if (a.is_constant() && b.is_constant()) return Term(a.real() sign b.real()); \
    return Term(lunagrad::f(a.get(), b.get()));                                  \
  }
INFIX(+, add)
INFIX(-, sub)
INFIX(*, mul)
INFIX(/, div)
INFIX(==, eq)
INFIX(!=, ne)
INFIX(<, lt)
INFIX(<=, le)
INFIX(>, gt)
#undef INFIX
inline Term operator-(const Term& a) { return a.is_constant() ? Term(-a.constant) : Term(neg(a.tensor)); }
inline Term operator&&(const Term& a, const Term& b) {
  if (a.is_constant() && b.is_constant()) return Term(a.constant != 0 && b.constant != 0);
  return Term(lunagrad::logical_and(a.get(), b.get()));
}
inline Term operator||(const Term& a, const Term& b) {
  if (a.is_constant() && b.is_constant()) return Term(a.constant != 0 || b.constant != 0);
  return Term(lunagrad::logical_or(a.get(), b.get()));
}
// For complex numbers the real parts are compared, as in ops/elementwise/cpu/complex.h.
inline Term operator>=(const Term& a, const Term& b) {
  if (a.is_constant() && b.is_constant()) return Term(a.constant >= b.constant);
  const auto part = [](const Term& x) { return x.is_constant() ? x.get() : lunagrad::real(x.tensor); };
  return Term(ge(part(a), part(b)));
}

#define UNARY(f)                                              \
  inline Term f(const Term& a) {                              \
    if (a.is_constant()) return Term(reference::f(a.real())); \
    return Term(lunagrad::f(a.tensor));                       \
  }
#define BINARY(f)                                                                          \
  inline Term f(const Term& a, const Term& b) {                                            \
    if (a.is_constant() && b.is_constant()) return Term(reference::f(a.real(), b.real())); \
    return Term(lunagrad::f(a.get(), b.get()));                                            \
  }
UNARY(isnan)
UNARY(isinf)
UNARY(isfinite)
UNARY(abs)
UNARY(sign)
UNARY(square)
UNARY(conj)
UNARY(trunc)
UNARY(sqrt)
UNARY(log)
UNARY(erfcx)
UNARY(digamma)
UNARY(i0)
UNARY(i1)
UNARY(i0e)
UNARY(i1e)
BINARY(zeta)
BINARY(copysign)
UNARY(sin)
UNARY(cos)
UNARY(sinh)
UNARY(cosh)
UNARY(tanh)
UNARY(erf)
UNARY(log1p)
UNARY(sigmoid)
BINARY(pow)
#undef UNARY
#undef BINARY
#define BINARY_AS(f, op)                                                                   \
  inline Term f(const Term& a, const Term& b) {                                            \
    if (a.is_constant() && b.is_constant()) return Term(reference::f(a.real(), b.real())); \
    return Term(lunagrad::op(a.get(), b.get()));                                           \
  }
BINARY_AS(max, maximum)
BINARY_AS(min, minimum)
BINARY_AS(floor_div, floor_divide)
#undef BINARY_AS
inline Term round_even(const Term& a) {
  return a.is_constant() ? Term(reference::round_even(a.real())) : Term(lunagrad::round(a.tensor));
}
// The result is finite even where exp(a) overflows. There a sel() takes the other side, and infinity times
// the 0 that sel() passes back would be NaN in the next gradient.
inline Term exp(const Term& a) {
  if (a.is_constant()) return Term(reference::exp(a.real()));
  const DType type = a.tensor.dtype();
  if (is_complex(type)) return Term(lunagrad::exp(a.tensor));
  const double most = type == DType::f64 ? 709 : type == DType::f16 ? 11 : 88;
  return Term(lunagrad::exp(clamp_max(a.tensor, Tensor::number(most))));
}
inline Term sel(const Term& c, const Term& a, const Term& b) {
  if (c.is_constant()) return c.constant != 0 ? a : b;
  return Term(lunagrad::where(c.tensor, a.get(), b.get()));
}
inline Term normal_cdf(const Term& x) {
  return Term(0.5) * (Term(1.0) + erf(x * Term(0.70710678118654752440)));
}
inline Term normal_pdf(const Term& x) { return Term(0.39894228040143267794) * exp(Term(-0.5) * square(x)); }

#include "runtime/elementwise/rows.h"

template <class R, int I>
Tensor evaluate(const Tensor& g, std::span<const Tensor> in, const Tensor& y, const double* params) {
  const auto operand = [&](size_t i) { return i < in.size() && in[i].defined() ? Term(in[i]) : Term(); };
  const typename R::template Params<Term> p(params);
  const Term result =
      R::template gradient<I>(Term(g), operand(0), operand(1), operand(2), y.defined() ? Term(y) : Term(), p);
  return result.is_constant() ? full(g.shape(), result.constant, g.dtype(), g.device()) : result.tensor;
}

}  // namespace expression

using NoteFunction = noting::Note (*)();
using ExpressionFunction = Tensor (*)(const Tensor&, std::span<const Tensor>, const Tensor&, const double*);

struct Reading {
  NoteFunction note[3];
  ExpressionFunction expression[3];
};

#define READ(row, i) noting::note_of<noting::row, i>
#define WRITE(row, i) expression::evaluate<expression::row, i>
#define EW1(name, params, types, result, facts, value, gx, lo, hi, doc) \
  {{READ(name##_row, 0), nullptr, nullptr}, {WRITE(name##_row, 0), nullptr, nullptr}},
#define EW2(name, inputs, params, types, result, facts, value, ga, gb, lo, hi, doc) \
  {{READ(name##_row, 0), READ(name##_row, 1), nullptr},                             \
   {WRITE(name##_row, 0), WRITE(name##_row, 1), nullptr}},
#define EW3(name, inputs, params, types, result, facts, value, ga, gb, gc, lo, hi, doc) \
  {{READ(name##_row, 0), READ(name##_row, 1), READ(name##_row, 2)},                     \
   {WRITE(name##_row, 0), WRITE(name##_row, 1), WRITE(name##_row, 2)}},
constexpr Reading kReadings[kRowCount] = {
#include "runtime/elementwise/elementwise.def"
};
#undef READ
#undef WRITE

}  // namespace

GradientUse gradient_use(int row, int input) {
  const noting::Note note = kReadings[row].note[input]();
  const GradientForm form = note.zero              ? GradientForm::none
                            : note.incoming_itself ? GradientForm::passes_g
                                                   : GradientForm::expression;
  return {form, {uint16_t(note.used & 7), uint16_t(note.used >> noting::kResult & 1)}};
}

Tensor gradient_expression(int row, int input, const Tensor& g, std::span<const Tensor> operands,
                           const Tensor& y, const double* params) {
  return kReadings[row].expression[input](g, operands, y, params);
}

}  // namespace lunagrad

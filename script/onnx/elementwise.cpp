// Writes rows of elementwise.def as ONNX nodes: evaluates a row's expression with functions that add nodes,
// in place of the functions of ops/elementwise/vocabulary.h. A row for which ONNX has an operator becomes
// that operator.
#include "runtime/elementwise/elementwise.h"

#include <cmath>
#include <limits>

#include "script/onnx/rule.h"

namespace lunagrad::onnx_export {
namespace {

namespace expression {

// The step that is being written, for the functions below. A thread writes one row at a time.
struct Setting {
  const Site* site;
  DType type;  // the row's computing type
};
thread_local const Setting* setting = nullptr;

bool floating() { return is_floating(setting->type); }

// A value of the graph or a constant. Expressions of constants are evaluated here.
struct Term {
  std::string name;  // "" for a constant
  double constant = 0;
  Term() = default;
  explicit Term(double value) : constant(value) {}
  explicit Term(std::string value) : name(std::move(value)) {}
  bool is_constant() const { return name.empty(); }
  std::string get() const {
    return is_constant() ? setting->site->graph().number(constant, setting->type) : name;
  }
};

struct Condition {
  std::string name;
};

template <class Result = Term>
Result node(const char* type, const Names& inputs, const std::vector<Attribute>& attributes = {}) {
  return Result{setting->site->add(type, inputs, attributes)};
}

#define ARITHMETIC(sign, type)                                                       \
  Term operator sign(const Term& a, const Term& b) {                                 \
    if (a.is_constant() && b.is_constant()) return Term(a.constant sign b.constant); \
    return node(#type, {a.get(), b.get()});                                          \
  }
ARITHMETIC(+, Add)
ARITHMETIC(-, Sub)
ARITHMETIC(/, Div)
#undef ARITHMETIC
Term operator*(const Term& a, const Term& b) {
  if (a.is_constant() && b.is_constant()) return Term(a.constant * b.constant);
  if (a.is_constant() && a.constant == 1) return b;
  if (b.is_constant() && b.constant == 1) return a;
  return node("Mul", {a.get(), b.get()});
}
Term operator-(const Term& a) { return a.is_constant() ? Term(-a.constant) : node("Neg", {a.get()}); }

#define UNARY(word, type) \
  Term word(const Term& a) { return node(#type, {a.get()}); }
UNARY(abs, Abs)
UNARY(sign, Sign)
UNARY(sqrt, Sqrt)
UNARY(exp, Exp)
UNARY(log, Log)
UNARY(sin, Sin)
UNARY(cos, Cos)
UNARY(tan, Tan)
UNARY(asin, Asin)
UNARY(acos, Acos)
UNARY(atan, Atan)
UNARY(sinh, Sinh)
UNARY(cosh, Cosh)
UNARY(tanh, Tanh)
UNARY(asinh, Asinh)
UNARY(acosh, Acosh)
UNARY(atanh, Atanh)
UNARY(erf, Erf)
UNARY(sigmoid, Sigmoid)
#undef UNARY
// ONNX rounds only floats; integers need no rounding.
Term rounded(const char* type, const Term& a) { return floating() ? node(type, {a.get()}) : a; }
Term floor(const Term& a) { return rounded("Floor", a); }
Term ceil(const Term& a) { return rounded("Ceil", a); }
Term round_even(const Term& a) { return rounded("Round", a); }

// A lower limit of -1e30 only turns the product of -inf and 0 into a zero; models do without it.
Term max(const Term& a, const Term& b) {
  if (b.is_constant() && b.constant <= -1e30) return a;
  return node("Max", {a.get(), b.get()});
}
Term min(const Term& a, const Term& b) { return node("Min", {a.get(), b.get()}); }
Term pow(const Term& a, const Term& b) { return node("Pow", {a.get(), b.get()}); }
Term conj(const Term& a) { return a; }
Term square(const Term& a) { return a * a; }
Term trunc(const Term& a) { return floating() ? sign(a) * floor(abs(a)) : a; }

#define COMPARE(sign, type) \
  Condition operator sign(const Term& a, const Term& b) { return node<Condition>(#type, {a.get(), b.get()}); }
COMPARE(==, Equal)
COMPARE(<, Less)
COMPARE(<=, LessOrEqual)
COMPARE(>, Greater)
COMPARE(>=, GreaterOrEqual)
#undef COMPARE
Condition operator!(const Condition& a) { return node<Condition>("Not", {a.name}); }
Condition operator!=(const Term& a, const Term& b) { return !(a == b); }
Condition operator!=(const Condition& a, const Condition& b) {
  return node<Condition>("Xor", {a.name, b.name});
}
Condition operator&&(const Condition& a, const Condition& b) {
  return node<Condition>("And", {a.name, b.name});
}
Condition operator||(const Condition& a, const Condition& b) {
  return node<Condition>("Or", {a.name, b.name});
}
// Only NaN differs from itself. An integer is neither NaN nor infinite.
Condition isnan(const Term& a) { return !(a == a); }
Condition isinf(const Term& a) {
  return floating() ? abs(a) == Term(std::numeric_limits<double>::infinity()) : isnan(a);
}
Condition isfinite(const Term& a) {
  return floating() ? abs(a) < Term(std::numeric_limits<double>::infinity()) : a == a;
}
Term sel(const Condition& c, const Term& a, const Term& b) {
  return node("Where", {c.name, a.get(), b.get()});
}

// With the attribute fmod, the result of ONNX's Mod has the sign of a. Without it, the result has the sign of
// b, and only integers are allowed.
Term fmod(const Term& a, const Term& b) { return node("Mod", {a.get(), b.get()}, {{"fmod", int64_t(1)}}); }
Term remainder(const Term& a, const Term& b) {
  if (!floating()) return node("Mod", {a.get(), b.get()});
  const Term r = fmod(a, b);
  return sel(r != Term(0) && (r < Term(0)) != (b < Term(0)), r + b, r);
}
Term floor_div(const Term& a, const Term& b) { return round_even((a - remainder(a, b)) / b); }

Term exp2(const Term& a) { return exp(a * Term(std::log(2.0))); }
Term log2(const Term& a) { return log(a) / Term(std::log(2.0)); }
Term log10(const Term& a) { return log(a) / Term(std::log(10.0)); }
// exp(x) - 1 = 2 sinh(x / 2) exp(x / 2), which is exact near 0. ONNX has no operators for a similar form of
// log(1 + x).
Term expm1(const Term& a) {
  const Term half = a * Term(0.5);
  return Term(2) * sinh(half) * exp(half);
}
Term log1p(const Term& a) { return log(a + Term(1)); }
Term normal_cdf(const Term& a) { return Term(0.5) * (Term(1) + erf(a * Term(0.70710678118654752440))); }
// Functions that ONNX has no operators for.
template <class... Operands>
Term unknown(const char* function, const Operands&...) {
  fail("io.onnx_export: ONNX has no operator for ", function);
}
#define UNKNOWN(function) \
  Term function(const Term& a) { return unknown(#function, a); }
#define UNKNOWN_2(function) \
  Term function(const Term& a, const Term& b) { return unknown(#function, a, b); }
UNKNOWN(erfinv)
UNKNOWN(erfcx)
UNKNOWN(ndtri)
UNKNOWN(lgamma)
UNKNOWN(digamma)
UNKNOWN(i0)
UNKNOWN(i1)
UNKNOWN(i0e)
UNKNOWN(i1e)
UNKNOWN_2(zeta)
UNKNOWN_2(bit_and)
UNKNOWN_2(bit_or)
UNKNOWN_2(bit_xor)
UNKNOWN_2(left_shift)
UNKNOWN_2(right_shift)
UNKNOWN_2(gcd)
UNKNOWN_2(lcm)
#undef UNKNOWN
#undef UNKNOWN_2
Term erfc(const Term& a) { return Term(1) - erf(a); }
// ONNX does not compare the signs of zeros, so look at the reciprocal's sign.
Condition signbit(const Term& a) {
  return floating() ? a < Term(0) || (a == Term(0) && Term(1) / a < Term(0)) : a < Term(0);
}
Term copysign(const Term& a, const Term& b) { return sel(signbit(b), -abs(a), abs(a)); }

// The angle of the point (b, a): atan(a / b), plus or minus pi where b is negative.
Term atan2(const Term& a, const Term& b) {
  const double pi = 3.14159265358979323846;
  const Term turn = sel(a < Term(0), Term(-pi), Term(pi));
  const Term inner = sel(b == Term(0), sel(a == Term(0), Term(0), turn * Term(0.5)), atan(a / b));
  return sel(b < Term(0), inner + turn, inner);
}

#include "runtime/elementwise/rows.h"

std::string name_of(const Term& value) { return value.get(); }
std::string name_of(const Condition& value) { return value.name; }

template <class R>
std::string evaluate(const Term (&in)[3], const double* params) {
  return name_of(R::value(in[0], in[1], in[2], typename R::template Params<Term>(params)));
}

}  // namespace expression

using Evaluate = std::string (*)(const expression::Term (&)[3], const double*);
#define EW1(name, ...) expression::evaluate<expression::name##_row>,
#define EW2 EW1
#define EW3 EW1
constexpr Evaluate kRows[kRowCount] = {
#include "runtime/elementwise/elementwise.def"
};

// Rows that are one ONNX operator, with the names of the attributes for the row's parameters.
struct Direct {
  Row row;
  const char* type;
  const char* attributes[2] = {};
};
constexpr Direct kDirect[] = {{Row::relu, "Relu"},           {Row::leaky_relu, "LeakyRelu", {"alpha"}},
                              {Row::elu, "Elu", {"alpha"}},  {Row::celu, "Celu", {"alpha"}},
                              {Row::selu, "Selu"},           {Row::softsign, "Softsign"},
                              {Row::hardswish, "HardSwish"}, {Row::reciprocal, "Reciprocal"},
                              {Row::_prelu, "PRelu"},        {Row::logical_and, "And"},
                              {Row::logical_or, "Or"},       {Row::logical_xor, "Xor"},
                              {Row::logical_not, "Not"}};

bool is_logical(Row row) {
  return row == Row::logical_and || row == Row::logical_or || row == Row::logical_xor ||
         row == Row::logical_not;
}

// Whether the operator can be used: a logical operator needs bool operands, the others need a row that
// computes in a floating type.
bool takes(Row row, const Call& call, DType type) {
  if (is_logical(row)) {
    for (const Tensor& x : call.in)
      if (x.dtype() != DType::boolean) return false;
    return true;
  }
  return is_floating(type);
}

bool write_directly(const Site& site, Row row, DType type) {
  for (const Direct& direct : kDirect) {
    if (direct.row != row || !takes(row, site.call, type)) continue;
    std::vector<Attribute> attributes;
    for (size_t i = 0; i < 2 && direct.attributes[i]; ++i)
      attributes.push_back({direct.attributes[i], site.real(int(i))});
    Names inputs;
    for (size_t i = 0; i < site.call.in.size(); ++i)
      inputs.push_back(site.in(int(i), is_logical(row) ? DType::boolean : type));
    const std::string y = site.add(direct.type, inputs, attributes);
    site.give(0, is_logical(row) ? y : site.cast(y, type, site.call.output().dtype()));
    return true;
  }
  return false;
}

// An infinite bound is no bound: it is left out.
void write_clamp(const Site& site, DType type, double low, double high) {
  const auto bound = [&](double value) {
    return std::isinf(value) ? std::string() : site.graph().number(value, type);
  };
  site.give(0, site.cast(site.add("Clip", {site.in(0, type), bound(low), bound(high)}), type,
                         site.call.output().dtype()));
}

}  // namespace

void write_elementwise(const Site& site) {
  const Call& call = site.call;
  const Row row = Row(call.op->elementwise);
  // Bool operands compute in u8. ONNX has arithmetic only for integers of 32 and 64 bits, so use i32.
  DType type = computing_type(call);
  if (type == DType::u8) type = DType::i32;
  double params[kMaxRowParams] = {};
  pack_params(call, params);

  if (write_directly(site, row, type)) return;
  if (row == Row::where) {
    const std::string y = site.add("Where", {site.in(0, DType::boolean), site.in(1, type), site.in(2, type)});
    return site.give(0, site.cast(y, type, call.output().dtype()));
  }
  if (row == Row::clamp || row == Row::hardtanh) return write_clamp(site, type, params[0], params[1]);
  if (row == Row::relu6) return write_clamp(site, type, 0, 6);

  const expression::Setting setting{&site, type};
  expression::setting = &setting;
  expression::Term in[3];
  for (size_t i = 0; i < call.in.size(); ++i) {
    const Tensor number = site.known(int(i));
    in[i] = number.defined() && number.is_number() ? expression::Term(number.item())
                                                   : expression::Term(site.in(int(i), type));
  }
  const std::string y = kRows[size_t(row)](in, params);
  const DType made = row_traits(int(row)).boolean_result ? DType::boolean : type;
  site.give(0, site.cast(y, made, call.output().dtype()));
}

}  // namespace lunagrad::onnx_export

// The op records of the rows of elementwise.def and of their gradients, built from the columns: shapes,
// types, saved values, and the C++ functions of ops.h.
#include "runtime/elementwise/elementwise.h"

#include <algorithm>
#include <cfloat>
#include <string>

#include "runtime/core/default_dtype.h"
#include "runtime/core/script_numbers.h"
#include "runtime/ops/elementwise/cpu/elementwise.h"
#include "runtime/ops/elementwise/vocabulary.h"
#include "runtime/ops/families.h"
#include "runtime/ops/flops.h"

namespace lunagrad {
namespace reference {
#include "runtime/elementwise/rows.h"
}  // namespace reference

namespace {

#define LOWEST -DBL_MAX
#define HIGHEST DBL_MAX

// The params column as ParamSpecs; below, the values of absent bounds.
std::vector<ParamSpec> param_specs(int row) {
  switch (Row(row)) {
#define REAL(name, fallback) {#name, ParamKind::real, Value(double(fallback))},
#define REQUIRED(name) {#name, ParamKind::real, Value()},
#define BOUND(name, when_absent) {#name, ParamKind::real, Value(), {}, true},
#define CHOICE(name, first, second) {#name, ParamKind::choice, Value(0), {first, second}},
#define EW1(name, params, types, result, facts, value, gx, lo, hi, doc) \
  case Row::name:                                                       \
    return {params};
#define EW2(name, inputs, params, types, result, facts, value, ga, gb, lo, hi, doc) \
  case Row::name:                                                                   \
    return {params};
#define EW3(name, inputs, params, types, result, facts, value, ga, gb, gc, lo, hi, doc) \
  case Row::name:                                                                       \
    return {params};
#include "runtime/elementwise/elementwise.def"
  }
  return {};
}

struct RowText {
  const char* doc;
  std::array<double, kMaxRowParams> when_absent;
};

#define REAL(name, fallback) fallback,
#define REQUIRED(name) 0,
#define BOUND(name, when_absent) when_absent,
#define CHOICE(name, first, second) 0,
#define EW1(name, params, types, result, facts, value, gx, lo, hi, doc) {doc, {params}},
#define EW2(name, inputs, params, types, result, facts, value, ga, gb, lo, hi, doc) {doc, {params}},
#define EW3(name, inputs, params, types, result, facts, value, ga, gb, gc, lo, hi, doc) {doc, {params}},
constexpr RowText kTexts[kRowCount] = {
#include "runtime/elementwise/elementwise.def"
};

enum class RowResult { ksame, kbool };

std::array<RowTraits, kRowCount> make_traits() {
  std::array<RowTraits, kRowCount> rows = {{
#define EW1(name, params, types, result, facts, value, gx, lo, hi, doc) \
  {#name, 1, RowTypes::k##types, RowResult::k##result == RowResult::kbool, lo, hi},
#define EW2(name, inputs, params, types, result, facts, value, ga, gb, lo, hi, doc) \
  {#name, 2, RowTypes::k##types, RowResult::k##result == RowResult::kbool, lo, hi},
#define EW3(name, inputs, params, types, result, facts, value, ga, gb, gc, lo, hi, doc) \
  {#name, 3, RowTypes::k##types, RowResult::k##result == RowResult::kbool, lo, hi},
#include "runtime/elementwise/elementwise.def"
  }};
  for (int row = 0; row < kRowCount; ++row) {
    for (int i = 0; i < rows[size_t(row)].arity; ++i) {
      const GradientUse use = gradient_use(row, i);
      rows[size_t(row)].gradients[size_t(i)] = use.form;
      rows[size_t(row)].reads[size_t(i)] = use.reads;
    }
  }
  return rows;
}

const std::array<RowTraits, kRowCount> kTraits = make_traits();

// The inputs column as InputSpecs.
std::vector<InputSpec> input_specs(int row) {
#define NAMES2(a, b) \
  {#a}, { #b }
#define NAMES3(a, b, c) \
  {#a}, {#b}, { #c }
  switch (Row(row)) {
#define EW1(name, params, types, result, facts, value, gx, lo, hi, doc) \
  case Row::name:                                                       \
    return {{"input"}};
#define EW2(name, inputs, params, types, result, facts, value, ga, gb, lo, hi, doc) \
  case Row::name:                                                                   \
    return {NAMES2 inputs};
#define EW3(name, inputs, params, types, result, facts, value, ga, gb, gc, lo, hi, doc) \
  case Row::name:                                                                       \
    return {NAMES3 inputs};
#include "runtime/elementwise/elementwise.def"
  }
#undef NAMES2
#undef NAMES3
  return {};
}

// PyTorch's result_type: tensors with dims count first, then 0-d tensors, then script numbers. A later group
// counts only if its category (bool, integer, floating, complex) is higher.
struct PairedTypes {
  int dims = -1, scalar = -1, number = -1;  // a DType, or -1

  static int join(int a, int b) { return a < 0 ? b : b < 0 ? a : int(promote(DType(a), DType(b))); }
  static int combine(int higher, int lower) {
    if (higher < 0) return lower;
    if (lower < 0 || is_complex(DType(higher))) return higher;
    if (is_floating(DType(higher)))
      return is_complex(DType(lower)) ? int(complex_type(DType(higher))) : higher;
    if (DType(higher) == DType::boolean || is_differentiable(DType(lower))) return join(higher, lower);
    return higher;
  }
  void add(const Tensor& x) {
    int& slot = x.is_number() ? number : x.ndim() == 0 ? scalar : dims;
    slot = join(slot, x.is_number() && x.dtype() == DType::f64 ? int(default_dtype()) : int(x.dtype()));
  }
  DType result() const { return DType(combine(dims, combine(scalar, number))); }
};

// Whether an integer type holds the number.
bool holds(DType type, int64_t value) {
  return type == DType::i64   ? true
         : type == DType::i32 ? value == int32_t(value)
                              : value >= 0 && value <= UINT8_MAX;
}
bool holds(DType type, double value) {
  return value >= -0x1p63 && value < 0x1p63 && holds(type, int64_t(value));
}
bool holds(DType type, const Value& value) {
  return value.kind == Value::Kind::real ? holds(type, value.f) : holds(type, value.i);
}

bool whole(double value) { return !(std::isfinite(value) && value != std::trunc(value)); }

// The common type of the operands of a value.
DType meeting_type(const Call& call, int row) {
  const RowTraits& traits = kTraits[size_t(row)];
  const size_t first = row == int(Row::where) ? 1 : 0;
  DType type = call.in[first].dtype();
  bool mixed = call.in[first].is_number();
  for (size_t i = first + 1; i < call.in.size(); ++i)
    mixed |= call.in[i].dtype() != type || call.in[i].is_number();
  if (mixed) {
    PairedTypes meet;
    for (size_t i = first; i < call.in.size(); ++i) meet.add(call.in[i]);
    type = meet.result();
  }
  if (is_differentiable(type)) return type;
  if (traits.types == RowTypes::kfloat) return default_dtype();
  // A fractional parameter of an integer computation: PyTorch's clamp(ints, 0.5) gives floats.
  for (const Value& value : call.params)
    if (value.kind == Value::Kind::real && !whole(value.f)) return default_dtype();
  return type;
}

void check_types(const Call& call, const RowTraits& traits, int row, DType type) {
  if (traits.types == RowTypes::knumber && type == DType::boolean)
    fail(traits.name, ": bool tensors are not supported; convert them with :to(\"f32\") or use logical ops");
  if (traits.types == RowTypes::kinteger && is_differentiable(type))
    fail(traits.name, ": integers or booleans are needed (got ", type, ")");
  if (row == int(Row::where) && item_size(call.in[0].dtype()) != 1)
    fail("where: the condition must be a bool tensor (got ", call.in[0].dtype(), ")");
}

bool is_above(DType type, double value) { return value > 0 && !holds(type, value); }
bool is_below(DType type, double value) { return value < 0 && !holds(type, value); }
double as_double(const Value& value) { return value.kind == Value::Kind::real ? value.f : double(value.i); }

// Error if the result may contain a number of the call that the result's integer type does not hold. Numbers
// that are only compared or computed with may have any value.
void check_given_numbers(const Call& call, const RowTraits& traits, Row row, DType type) {
  const auto refuse = [&](const auto& value) {
    fail(traits.name, ": the value ", value, " cannot be converted to ", type, " without overflow");
  };
  for (size_t i = 0; i < call.in.size(); ++i) {
    const Tensor& x = call.in[i];
    if (!x.is_number() || x.dtype() != DType::i64) continue;
    const int64_t value = *x.data<int64_t>();
    if (holds(type, value)) continue;
    switch (row) {
      case Row::maximum:
      case Row::fmax:
      case Row::clamp_min:
        if (value > 0) refuse(value);
        break;
      case Row::minimum:
      case Row::fmin:
      case Row::clamp_max:
        if (value < 0) refuse(value);
        break;
      case Row::where:
        check_converts(traits.name, type, value);
        break;
      case Row::heaviside:
        if (i == 1) check_converts(traits.name, type, value);
        break;
      default:
        break;
    }
  }
  if (row == Row::threshold) check_converts(traits.name, type, call.params[1]);
  if (row == Row::addcmul && !holds(DType::i64, call.params[0])) refuse(as_double(call.params[0]));
  if (row != Row::clamp && row != Row::hardtanh) return;
  const Value &low = call.params[0], &high = call.params[1];
  const double most = high.present() ? as_double(high) : INFINITY;
  if (low.present() && is_above(type, std::min(as_double(low), most))) refuse(as_double(low));
  if (high.present() && is_below(type, most)) refuse(most);
}

// Emits an output with the broadcast shape of all operands; reuses the layout of an operand if it fits.
void emit_broadcast(Call& call, const char* name, DType type) {
  const LayoutRef* found = nullptr;  // the common layout of all operands that are not scalars
  bool alike = true;
  for (const Tensor& x : call.in) {
    if (!x.defined()) continue;
    if (!found || (x.ndim() > 0 && (*found)->shape.empty())) {
      found = &x.layout();
    } else if (x.layout().get() != found->get() && x.ndim() > 0 && !(x.shape() == (*found)->shape)) {
      alike = false;
    }
  }
  if (alike && (*found)->contiguous_) {
    const LayoutRef layout = *found;
    call.emit(layout, type);
    return;
  }
  Shape shape = (*found)->shape;
  if (!alike)
    for (const Tensor& x : call.in)
      if (x.defined()) shape = broadcast_shapes(name, shape, x.shape());
  for (const Tensor& x : call.in)
    if (x.defined() && x.is_contiguous() && x.shape() == shape) {
      const LayoutRef layout = x.layout();
      call.emit(layout, type);
      return;
    }
  call.emit(shape, type);
}

void value_shape(Call& call) {
  const int row = call.op->elementwise;
  const RowTraits& traits = kTraits[size_t(row)];
  const DType type = meeting_type(call, row);
  check_types(call, traits, row, type);
  if (is_integral(type)) check_given_numbers(call, traits, Row(row), type);
  emit_broadcast(call, traits.name,
                 traits.boolean_result      ? DType::boolean
                 : is_real_valued(Row(row)) ? part_type(type)
                                            : type);
}

// The type of a gradient: g's, unless g is real and the operand is not.
DType gradient_type(const Call& call) {
  DType type = call.in[0].dtype();
  for (const Tensor& x : call.in)
    if (x.defined() && is_complex(x.dtype())) type = promote(type, x.dtype());
  return type;
}

// g has the shape and type of the result; the tape sums to the operand's shape.
void gradient_shape(Call& call) { emit_broadcast(call, call.op->name, gradient_type(call)); }

void value_vjp(Backward&);

struct Records {
  std::array<Op, kRowCount> values;
  std::array<std::array<Op, 3>, kRowCount> gradients;  // a null name: the row has no gradient
  std::vector<std::string> texts;                      // names and docs of the gradients
  std::vector<const Op*> list;

  const char* keep(std::string s) {
    texts.push_back(std::move(s));
    return texts.back().c_str();
  }
  Records();
};

Records::Records() {
  texts.reserve(size_t(kRowCount) * 6);
  for (int row = 0; row < kRowCount; ++row) {
    const RowTraits& traits = kTraits[size_t(row)];
    Op& op = values[size_t(row)];
    op.name = traits.name;
    op.doc = kTexts[row].doc;
    op.inputs = input_specs(row);
    op.params = param_specs(row);
    op.shape = value_shape;
    op.cpu = run_elementwise;
    op.elementwise = row;
    op.complex = takes_complex(Row(row));
    // Integers must not be divided by 0.
    op.judges_values = Row(row) == Row::floor_divide || Row(row) == Row::remainder || Row(row) == Row::fmod;
    op.family = OpFamily::elementwise;
    if (has_fact(Row(row), row_facts::upcast)) op.autocast = AutocastPolicy::f32;
    op.flops = kOnePerResult;
    op.number_inputs = uint16_t((1 << traits.arity) - 1);
    if (!traits.boolean_result) op.vjp = value_vjp;
    for (int i = 0; i < traits.arity; ++i) op.reads.push_back(traits.reads[size_t(i)]);
    list.push_back(&op);
  }
  for (int row = 0; row < kRowCount; ++row) {
    const RowTraits& traits = kTraits[size_t(row)];
    for (int i = 0; i < traits.arity; ++i) {
      Op& op = gradients[size_t(row)][size_t(i)];
      op.name = nullptr;
      if (traits.boolean_result || traits.gradients[size_t(i)] != GradientForm::expression) continue;
      const std::string suffix = traits.arity == 1 ? "" : std::string("_") + char('a' + i);
      op.name = keep(text("_", traits.name, "_grad", suffix));
      op.doc = keep(text("Gradient of input ", i + 1, " of ", traits.name, "."));
      op.inputs.push_back({"g"});
      for (const InputSpec& input : values[size_t(row)].inputs) op.inputs.push_back({input.name, true});
      op.inputs.push_back({"result", true});
      op.params = values[size_t(row)].params;
      op.shape = gradient_shape;
      op.cpu = run_elementwise;
      op.complex = takes_complex(Row(row));
      op.family = OpFamily::elementwise;
      op.flops = kOnePerResult;
      list.push_back(&op);
    }
  }
}

const Records& records() {
  static const Records all;
  return all;
}

Operands gradient_operands(const Backward& b, int input, const RowTraits& traits) {
  const Reads reads = traits.reads[size_t(input)];
  Operands in;
  in.push_back(b.grad());
  for (int i = 0; i < traits.arity; ++i) in.push_back(reads.inputs >> i & 1 ? b.input(i) : Tensor());
  in.push_back(reads.outputs ? b.output() : Tensor());
  return in;
}

// The gradient of |z| or |z|^2 as recorded tensor ops (ops/elementwise/cpu/complex_kernels.cpp).
Tensor real_valued_expression(Row row, const Tensor& g, const Tensor& z) {
  if (row == Row::norm_sq) return (2.0 * g) * conj(z);
  const Tensor size = abs(z);
  return g * (conj(z) / where(eq(size, Tensor::number(0.0)), Tensor::number(1.0), size));
}

void value_vjp(Backward& b) {
  const Op& op = *b.node().op;
  const RowTraits& traits = kTraits[size_t(op.elementwise)];
  if (b.create_graph() && is_real_valued(Row(op.elementwise)) && is_complex(b.dtype(0)))
    return b.set(0, real_valued_expression(Row(op.elementwise), b.grad(), b.input(0)));
  for (int i = 0; i < traits.arity; ++i) {
    if (!b.needs(i)) continue;
    if (traits.gradients[size_t(i)] == GradientForm::passes_g) {
      b.set(i, b.grad());
    } else if (traits.gradients[size_t(i)] == GradientForm::none) {
      b.set(i, zeros(b.shape(i), b.dtype(i), b.device()));
    } else {
      Operands in = gradient_operands(b, i, traits);
      Values params;
      if (b.node().attributes) params = b.node().attributes->params;
      if (b.create_graph()) {
        Call call;
        call.op = &op;
        call.out.push_back(in[0]);
        call.params = params;
        double packed[kMaxRowParams];
        pack_params(call, packed);
        const std::span<const Tensor> operands(in.begin() + 1, size_t(traits.arity));
        b.set(i, gradient_expression(op.elementwise, i, in[0], operands, in.back(), packed));
      } else {
        b.set(i, apply1(records().gradients[size_t(op.elementwise)][size_t(i)], std::move(in),
                        std::move(params)));
      }
    }
  }
}

double finite_limit(DType type) {
  switch (type) {
    case DType::f16:
      return 65504;
    case DType::bf16:
      return 0x1.fep127;
    case DType::f32:
      return FLT_MAX;
    default:
      return DBL_MAX;
  }
}

}  // namespace

const RowTraits& row_traits(int row) { return kTraits[size_t(row)]; }

const Op& elementwise_op(Row row) { return records().values[size_t(row)]; }

ElementwiseUse elementwise_use(const Op& op) {
  if (op.elementwise >= 0) return {op.elementwise, -1};
  const Op* first = records().gradients[0].data();
  if (std::less<>()(&op, first) || !std::less<>()(&op, first + kRowCount * 3)) return {};
  const int index = int(&op - first);
  return {index / 3, index % 3};
}

// Integers are computed in i64 if their type does not hold a number of the call. The result wraps around, as
// in all integer arithmetic.
DType computing_type(const Call& call) {
  DType type = call.op->elementwise >= 0 ? meeting_type(call, call.op->elementwise) : gradient_type(call);
  if (is_16bit_float(type)) return DType::f32;
  if (type == DType::boolean) return DType::u8;
  if (type == DType::u8 || type == DType::i32) {
    for (const Tensor& x : call.in)
      if (x.defined() && x.is_number() && x.dtype() == DType::i64 && !holds(type, *x.data<int64_t>()))
        return DType::i64;
    for (const Value& value : call.params)
      if (value.present() && !holds(type, value)) return DType::i64;
  }
  return type;
}

void pack_params(const Call& call, double* values) {
  const RowText& row = kTexts[elementwise_use(*call.op).row];
  for (size_t i = 0; i < call.params.size(); ++i) {
    const Value& value = call.params[i];
    if (value.kind == Value::Kind::real) {
      values[i] = value.f;
    } else if (value.present()) {
      values[i] = double(value.i);
    } else {
      const double limit = std::isinf(row.when_absent[i]) ? INFINITY : finite_limit(call.out[0].dtype());
      values[i] = std::clamp(row.when_absent[i], -limit, limit);
    }
  }
}

namespace {

using reference::Real;

struct ReferenceRow {
  double (*value)(const double* in, const double* params);
  double (*gradient[3])(const double* in, double y, const double* params);
};

double number(Real x) { return x.v; }
double number(bool x) { return x; }

template <class R>
double reference_value_of(const double* in, const double* params) {
  return number(R::value(Real(in[0]), Real(in[1]), Real(in[2]), typename R::template Params<Real>(params)));
}
template <class R, int I>
double reference_gradient_of(const double* in, double y, const double* params) {
  const typename R::template Params<Real> p(params);
  return R::template gradient<I>(Real(1), Real(in[0]), Real(in[1]), Real(in[2]), Real(y), p).v;
}

#define LUNAGRAD_REFERENCE(row)                                                         \
  {reference_value_of<reference::row>,                                                  \
   {reference_gradient_of<reference::row, 0>, reference_gradient_of<reference::row, 1>, \
    reference_gradient_of<reference::row, 2>}},
#define EW1(name, params, types, result, facts, value, gx, lo, hi, doc) LUNAGRAD_REFERENCE(name##_row)
#define EW2(name, inputs, params, types, result, facts, value, ga, gb, lo, hi, doc) \
  LUNAGRAD_REFERENCE(name##_row)
#define EW3(name, inputs, params, types, result, facts, value, ga, gb, gc, lo, hi, doc) \
  LUNAGRAD_REFERENCE(name##_row)
constexpr ReferenceRow kReference[kRowCount] = {
#include "runtime/elementwise/elementwise.def"
};
#undef LUNAGRAD_REFERENCE

// The operands and packed parameters of a reference evaluation; fallbacks where no parameters are given.
struct ReferenceInput {
  double in[3] = {};
  double params[kMaxRowParams] = {};
  ReferenceInput(const Op& op, std::span<const double> x, std::span<const Value> values) {
    std::copy(x.begin(), x.end(), in);
    for (size_t i = 0; i < op.params.size(); ++i) {
      const Value& value = i < values.size() && values[i].present() ? values[i] : op.params[i].fallback;
      params[i] = value.kind == Value::Kind::real ? value.f
                  : value.present()               ? double(value.i)
                                                  : kTexts[op.elementwise].when_absent[i];
    }
  }
};

}  // namespace

double evaluate_reference(ElementwiseUse use, const double (&operands)[3], double y, const double* params) {
  const ReferenceRow& row = kReference[use.row];
  return use.gradient < 0 ? row.value(operands, params) : row.gradient[use.gradient](operands, y, params);
}

double reference_value(const Op& op, std::span<const double> x, std::span<const Value> params) {
  const ReferenceInput input(op, x, params);
  return evaluate_reference({op.elementwise, -1}, input.in, 0, input.params);
}

double reference_gradient(const Op& op, int i, std::span<const double> x, std::span<const Value> params) {
  const ReferenceInput input(op, x, params);
  const double y = evaluate_reference({op.elementwise, -1}, input.in, 0, input.params);
  return evaluate_reference({op.elementwise, i}, input.in, y, input.params);
}

std::vector<OpExample> row_examples(const Op& op) {
  const RowTraits& traits = row_traits(op.elementwise);
  const int arity = traits.arity;
  std::vector<OpExample> examples;
  for (int broadcast = -1; broadcast < (arity > 1 ? arity : 0); ++broadcast) {
    OpExample example;
    for (int i = 0; i < arity; ++i)
      example.inputs.push_back(
          {i == broadcast ? Shape{3} : Shape{2, 3}, traits.lo, traits.hi,
           traits.types == RowTypes::kinteger ? ExampleOperand::Kind::index : ExampleOperand::Kind::real});
    if (op.elementwise == int(Row::where))
      example.inputs[0] = {example.inputs[0].shape, 0, 1, ExampleOperand::Kind::boolean};
    for (const ParamSpec& spec : op.params) {
      if (spec.fallback.present()) continue;
      example.params.resize(op.params.size());
      example.params[size_t(&spec - op.params.data())] = 0.5;
    }
    // A fraction among the parameters makes bool a float.
    if (traits.types == RowTypes::knumber && example.params.empty()) example.types = OpExample::Types::number;
    examples.push_back(std::move(example));
  }
  return examples;
}

std::span<const Op* const> elementwise_ops() { return records().list; }

// The functions of ops.h. A definition reads the params column twice, as declarations and as values. So the
// column becomes a sequence (kind, name)(kind, name)…, and two macros that call each other walk over it.
namespace {
Value choice_value(const Op& op, std::string_view word) {
  const ParamSpec& spec = op.params[0];
  for (size_t i = 0; i < spec.choices.size(); ++i)
    if (word == spec.choices[i]) return Value(int(i));
  fail(op.name, ": ", spec.name, " must be \"", spec.choices[0], "\" or \"", spec.choices[1], "\" (got \"",
       word, "\")");
}
Value bound_value(const std::optional<double>& bound) { return bound ? Value(*bound) : Value(); }
}  // namespace

#define JOIN_END(...) __VA_ARGS__##_END
#define WALK(...) JOIN_END(__VA_ARGS__)
#define DECLARE_real(name) , double name
#define DECLARE_bound(name) , std::optional<double> name
#define DECLARE_choice(name) , std::string_view name
#define DECLARE_A(kind, name) DECLARE_##kind(name) DECLARE_B
#define DECLARE_B(kind, name) DECLARE_##kind(name) DECLARE_A
#define DECLARE_A_END
#define DECLARE_B_END
#define VALUE_real(name) Value(name),
#define VALUE_bound(name) bound_value(name),
#define VALUE_choice(name) choice_value(op, name),
#define VALUE_A(kind, name) VALUE_##kind(name) VALUE_B
#define VALUE_B(kind, name) VALUE_##kind(name) VALUE_A
#define VALUE_A_END
#define VALUE_B_END

#define REAL(name, fallback) (real, name)
#define REQUIRED(name) (real, name)
#define BOUND(name, when_absent) (bound, name)
#define CHOICE(name, first, second) (choice, name)
#define EW1(name, params, types, result, facts, value_, gx, lo, hi, doc) \
  Tensor name(const Tensor& x WALK(DECLARE_A params)) {                  \
    static const Op& op = elementwise_op(Row::name);                     \
    return apply1(op, {x}, Values{WALK(VALUE_A params)});                \
  }
#define EW2(name, inputs, params, types, result, facts, value_, ga, gb, lo, hi, doc) \
  Tensor name(const Tensor& a, const Tensor& b WALK(DECLARE_A params)) {             \
    static const Op& op = elementwise_op(Row::name);                                 \
    return apply1(op, {a, b}, Values{WALK(VALUE_A params)});                         \
  }
#define EW3(name, inputs, params, types, result, facts, value_, ga, gb, gc, lo, hi, doc)  \
  Tensor name(const Tensor& a, const Tensor& b, const Tensor& c WALK(DECLARE_A params)) { \
    static const Op& op = elementwise_op(Row::name);                                      \
    return apply1(op, {a, b, c}, Values{WALK(VALUE_A params)});                           \
  }
#include "runtime/elementwise/elementwise.def"

}  // namespace lunagrad

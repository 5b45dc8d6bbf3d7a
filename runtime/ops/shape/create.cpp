// Tensors made from parameters or from a shape: constants, ranges, the identity, triangles. They are made on
// the device of the context (Call::device of a call without operands). Random tensors are in random.cpp.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "runtime/core/default_dtype.h"
#include "runtime/core/script_numbers.h"
#include "runtime/cpu/parallel.h"
#include "runtime/ops/dense.h"
#include "runtime/ops/elementwise/cpu/copy.h"
#include "runtime/ops/flops.h"
#include "runtime/ops/shape/creation.h"

namespace lunagrad {

Tensor create(const Op& op, Values params, Device& device) {
  Context& ctx = context();
  struct Restore {
    Context& ctx;
    Device* previous;
    ~Restore() { ctx.device = previous; }
  } restore{ctx, ctx.device};
  ctx.device = &device;
  return apply1(op, {}, std::move(params));
}

DType dtype_or(const Value& given, DType fallback) { return given.present() ? DType(given.i) : fallback; }

static thread_local DType own_default_dtype = DType::f32;

DType default_dtype() { return own_default_dtype; }

void set_default_dtype(DType dtype) {
  if (!is_floating(dtype)) fail("set_default_dtype: a floating-point dtype is needed (got ", dtype, ")");
  own_default_dtype = dtype;
}

namespace {

constexpr int64_t kGrain = 1 << 18;  // elements written in about 20 µs

double as_real(const Value& v) {
  return v.kind == Value::Kind::real ? v.f : v.kind == Value::Kind::boolean ? double(v.b) : double(v.i);
}

// The type of a tensor filled with a value: i64 for an integer, the default one for a real, bool for a
// boolean.
DType dtype_of_number(const Value& v) {
  return v.kind == Value::Kind::real      ? default_dtype()
         : v.kind == Value::Kind::boolean ? DType::boolean
                                          : DType::i64;
}

template <class T>
T element_of(const Value& v) {
  return v.kind == Value::Kind::real      ? convert<T>(v.f)
         : v.kind == Value::Kind::boolean ? convert<T>(v.b)
                                          : convert<T>(v.i);
}

// --- full, zeros, ones, empty ---

void fill_with(const Tensor& out, const Value& value) {
  visit_any_dtype(out.dtype(), [&]<class T>() {
    const T element = element_of<T>(value);
    T* to = out.data<T>();
    static_assert(std::is_trivially_copyable_v<T>);
    constexpr T kZero{};
    const bool zero = std::memcmp(&element, &kZero, sizeof(T)) == 0;
    parallel_for(out.numel(), kGrain, [&](int64_t begin, int64_t end) {
      if (zero)
        std::memset(static_cast<void*>(to + begin), 0, size_t(end - begin) * sizeof(T));
      else
        std::fill(to + begin, to + end, element);
    });
  });
}

void full_shape(Call& call) {
  const DType type = dtype_or(call.params[2], dtype_of_number(call.params[1]));
  check_converts("full", type, call.params[1]);
  call.emit(call.list(0), type);
}
void full_cpu(const Call& call) { fill_with(call.output(), call.params[1]); }
const Op kFull{.name = "full",
               .doc = "A tensor of shape size with every element equal to fill_value.",
               .inputs = {},
               .params = {kSize, {"fill_value", ParamKind::number, {}}, kDType},
               .shape = full_shape,
               .cpu = full_cpu,
               .complex = true,
               .family = OpFamily::other,
               .flops = kMovesData};

void plain_shape(Call& call) { call.emit(call.list(0), dtype_or(call.params[1], default_dtype())); }
void zeros_cpu(const Call& call) { fill_with(call.output(), 0); }
void ones_cpu(const Call& call) { fill_with(call.output(), 1); }
// A byte other than 0 and 1 is no boolean.
void empty_cpu(const Call& call) {
  if (call.output().dtype() == DType::boolean) fill_with(call.output(), 0);
}
const Op kZeros{.name = "zeros",
                .doc = "A tensor of zeros of shape size.",
                .inputs = {},
                .params = {kSize, kDType},
                .shape = plain_shape,
                .cpu = zeros_cpu,
                .complex = true,
                .family = OpFamily::other,
                .flops = kMovesData};
const Op kOnes{.name = "ones",
               .doc = "A tensor of ones of shape size.",
               .inputs = {},
               .params = {kSize, kDType},
               .shape = plain_shape,
               .cpu = ones_cpu,
               .complex = true,
               .family = OpFamily::other,
               .flops = kMovesData};
const Op kEmpty{.name = "empty",
                .doc = "A tensor of shape size whose elements are not initialized.",
                .inputs = {},
                .params = {kSize, kDType},
                .shape = plain_shape,
                .cpu = empty_cpu,
                .complex = true,
                .family = OpFamily::other,
                .flops = kMovesNothing};

Operands zeros_like_compose(const Call& call) { return {like(kZeros, call, 0)}; }
Operands ones_like_compose(const Call& call) { return {like(kOnes, call, 0)}; }
Operands full_like_compose(const Call& call) {
  const Tensor& x = call.input(0);
  return {full(x.shape(), call.params[0], dtype_or(call.params[1], x.dtype()), x.device())};
}
const Op kZerosLike{.name = "zeros_like",
                    .doc = "Zeros with the shape, dtype and device of input.",
                    .inputs = {{"input"}},
                    .params = {kDType},
                    .compose = zeros_like_compose,
                    .family = OpFamily::other,
                    .creates = true};
const Op kOnesLike{.name = "ones_like",
                   .doc = "Ones with the shape, dtype and device of input.",
                   .inputs = {{"input"}},
                   .params = {kDType},
                   .compose = ones_like_compose,
                   .family = OpFamily::other,
                   .creates = true};
const Op kFullLike{.name = "full_like",
                   .doc = "fill_value with the shape, dtype and device of input.",
                   .inputs = {{"input"}},
                   .params = {{"fill_value", ParamKind::number, {}}, kDType},
                   .compose = full_like_compose,
                   .family = OpFamily::other,
                   .creates = true};

// --- arange, linspace, eye ---

struct Range {
  Value start, end, step;
  bool whole() const {
    return start.kind == Value::Kind::integer && end.kind == Value::Kind::integer &&
           step.kind == Value::Kind::integer;
  }
};
// arange(end) counts from 0.
Range range_of(const Call& call) {
  const Value &first = call.params[0], &second = call.params[1];
  return {second.present() ? first : Value(0), second.present() ? second : first, call.params[2]};
}
void arange_shape(Call& call) {
  const Range range = range_of(call);
  const double start = as_real(range.start), end = as_real(range.end), step = as_real(range.step);
  if (step == 0) fail("arange: the step must not be 0");
  if (!(std::isfinite(start) && std::isfinite(end) && std::isfinite(step)))
    fail("arange: start, end and step must be finite (got ", start, ", ", end, ", ", step, ")");
  const auto leads_away = [&](auto first, auto last) { return step > 0 ? first > last : first < last; };
  if (range.whole() ? leads_away(range.start.i, range.end.i) : leads_away(start, end))
    fail("arange: a step of ", step, " does not lead from ", start, " to ", end);
  int64_t count;
  if (range.whole()) {
    // Unsigned: the distance may exceed the largest signed integer.
    const bool up = range.step.i > 0;
    const uint64_t from = uint64_t(range.start.i), to = uint64_t(range.end.i), by = uint64_t(range.step.i);
    const uint64_t distance = up ? to - from : from - to, stride = up ? by : 0 - by;
    const uint64_t steps = distance / stride + (distance % stride != 0);
    if (steps > uint64_t(INT64_MAX))
      fail("arange: ", range.start.i, " to ", range.end.i, " in steps of ", range.step.i,
           " is too many elements");
    count = int64_t(steps);
  } else {
    const double steps = std::ceil((end - start) / step);
    if (steps > 0x1p62) fail("arange: ", start, " to ", end, " in steps of ", step, " is too many elements");
    count = int64_t(steps);
  }
  const DType type = dtype_or(call.params[3], range.whole() ? DType::i64 : default_dtype());
  if (count > 0) {
    check_converts("arange", type, range.start);
    if (range.whole())
      check_converts("arange", type,
                     int64_t(uint64_t(range.start.i) + uint64_t(count - 1) * uint64_t(range.step.i)));
    else
      check_converts("arange", type, start + double(count - 1) * step);
  }
  call.emit({count}, type);
}
void arange_cpu(const Call& call) {
  const Range range = range_of(call);
  const Tensor& out = call.output();
  visit_dtype(out.dtype(), [&]<class T>() {
    T* to = out.data<T>();
    parallel_for(out.numel(), kGrain / 4, [&](int64_t begin, int64_t end) {
      if (range.whole()) {
        const uint64_t start = uint64_t(range.start.i), step = uint64_t(range.step.i);
        for (int64_t i = begin; i < end; ++i) to[i] = convert<T>(int64_t(start + uint64_t(i) * step));
      } else {
        const double start = as_real(range.start), step = as_real(range.step);
        for (int64_t i = begin; i < end; ++i) to[i] = convert<T>(start + double(i) * step);
      }
    });
  });
}
const Op kArange{.name = "arange",
                 .doc = "start, start + step, … below end; with one number, 0, 1, … below it.",
                 .inputs = {},
                 .params = {{"start", ParamKind::number, {}},
                            {.name = "end", .kind = ParamKind::number, .optional = true},
                            {"step", ParamKind::number, 1},
                            kDType},
                 .shape = arange_shape,
                 .cpu = arange_cpu,
                 .family = OpFamily::other,
                 .flops = {for_results<2>, "2 for each element of the result"}};

void linspace_shape(Call& call) {
  if (call.integer(2) < 0)
    fail("linspace: the number of steps must not be negative (got ", call.integer(2), ")");
  const DType type = dtype_or(call.params[3], default_dtype());
  for (const int end : {0, 1}) check_converts("linspace", type, call.params[size_t(end)]);
  call.emit({call.integer(2)}, type);
}
// Counted from both ends to the middle, so that both ends are exact.
void linspace_cpu(const Call& call) {
  const Tensor& out = call.output();
  const double start = call.real(0), end = call.real(1);
  const int64_t n = out.numel();
  const double gaps = double(n - 1);
  const double step = n <= 1                       ? 0
                      : std::isfinite(end - start) ? (end - start) / gaps
                                                   : end / gaps - start / gaps;
  visit_dtype(out.dtype(), [&]<class T>() {
    T* to = out.data<T>();
    const int64_t half = n == 1 ? 1 : n / 2;
    parallel_for(n, kGrain / 4, [&](int64_t begin, int64_t stop) {
      const int64_t turn = std::clamp(half, begin, stop);
      for (int64_t i = begin; i < turn; ++i) to[i] = convert<T>(start + step * double(i));
      for (int64_t i = turn; i < stop; ++i) to[i] = convert<T>(end - step * double(n - 1 - i));
    });
  });
}
const Op kLinspace{.name = "linspace",
                   .doc = "steps numbers at equal distances from start to end, both included.",
                   .inputs = {},
                   .params = {{"start", ParamKind::real, {}},
                              {"end", ParamKind::real, {}},
                              {"steps", ParamKind::integer, {}},
                              kDType},
                   .shape = linspace_shape,
                   .cpu = linspace_cpu,
                   .family = OpFamily::other,
                   .flops = {for_results<2>, "2 for each element of the result"}};

void eye_shape(Call& call) {
  const int64_t columns = call.params[1].present() ? call.integer(1) : call.integer(0);
  call.emit({call.integer(0), columns}, dtype_or(call.params[2], default_dtype()));
}
void eye_cpu(const Call& call) {
  const Tensor& out = call.output();
  fill_with(out, 0);
  visit_any_dtype(out.dtype(), [&]<class T>() {
    for (int64_t i = 0; i < std::min(out.size(0), out.size(1)); ++i)
      out.data<T>()[i * (out.size(1) + 1)] = convert<T>(1.0f);
  });
}
const Op kEye{.name = "eye",
              .doc = "Ones on the diagonal of an n x m matrix, zeros elsewhere; m is n unless given.",
              .inputs = {},
              .params = {{"n", ParamKind::integer, {}},
                         {.name = "m", .kind = ParamKind::integer, .optional = true},
                         kDType},
              .shape = eye_shape,
              .cpu = eye_cpu,
              .complex = true,
              .family = OpFamily::other,
              .flops = kMovesData};

// --- tril, triu ---

void triangle_shape(Call& call) {
  const Tensor& x = call.input(0);
  if (x.ndim() < 2) fail(call.op->name, ": at least 2 dims expected (got shape ", x.shape(), ")");
  call.emit(x.shape(), x.dtype());
}
template <bool lower>
void triangle_cpu(const Call& call) {
  const Tensor &x = call.input(0), &out = call.output();
  copy_whole(out, x);
  const int64_t rows = x.size(-2), columns = x.size(-1);
  // All diagonals beyond these limits give the same result
  const int64_t diagonal = std::clamp(call.integer(0), -rows, columns);
  const size_t item = item_size(out.dtype());
  char* row = static_cast<char*>(out.raw());
  for (int64_t i = 0; i < out.numel() / columns; ++i, row += size_t(columns) * item) {
    const int64_t edge = i % rows + diagonal;  // the column of the diagonal in this row
    const int64_t first = lower ? std::clamp<int64_t>(edge + 1, 0, columns) : 0;
    const int64_t last = lower ? columns : std::clamp<int64_t>(edge, 0, columns);
    std::memset(row + size_t(first) * item, 0, size_t(last - first) * item);
  }
}
void tril_vjp(Backward& b) { b.set(0, tril(b.grad(), b.integer(0))); }
void triu_vjp(Backward& b) { b.set(0, triu(b.grad(), b.integer(0))); }
const Op kTril{.name = "tril",
               .doc = "The last two dims of input on and below a diagonal; zeros above it.",
               .inputs = {{"input"}},
               .params = {{"diagonal", ParamKind::integer, 0}},
               .shape = triangle_shape,
               .cpu = triangle_cpu<true>,
               .vjp = tril_vjp,
               .complex = true,
               .in_place = InPlaceForm::writes,
               .family = OpFamily::elementwise,
               .flops = kMovesData};
const Op kTriu{.name = "triu",
               .doc = "The last two dims of input on and above a diagonal; zeros below it.",
               .inputs = {{"input"}},
               .params = {{"diagonal", ParamKind::integer, 0}},
               .shape = triangle_shape,
               .cpu = triangle_cpu<false>,
               .vjp = triu_vjp,
               .complex = true,
               .in_place = InPlaceForm::writes,
               .family = OpFamily::elementwise,
               .flops = kMovesData};

}  // namespace

Tensor full(const Shape& shape, const Value& value, DType dtype, Device& device) {
  return create(kFull, {Value(shape), value, dtype}, device);
}
Tensor zeros(const Shape& shape, DType dtype, Device& device) {
  return create(kZeros, {Value(shape), dtype}, device);
}
Tensor ones(const Shape& shape, DType dtype, Device& device) {
  return create(kOnes, {Value(shape), dtype}, device);
}
Tensor zeros_like(const Tensor& x) { return zeros(x.shape(), x.dtype(), x.device()); }
Tensor ones_like(const Tensor& x) { return ones(x.shape(), x.dtype(), x.device()); }
Tensor arange(double start, double end, double step, DType dtype, Device& device) {
  return create(kArange, {start, end, step, dtype}, device);
}
Tensor linspace(double start, double end, int64_t steps, DType dtype, Device& device) {
  return create(kLinspace, {start, end, steps, dtype}, device);
}
Tensor eye(int64_t rows, int64_t columns, DType dtype, Device& device) {
  return create(kEye, {rows, columns, dtype}, device);
}
Tensor tril(const Tensor& x, int64_t diagonal) { return apply1(kTril, {x}, {diagonal}); }
Tensor triu(const Tensor& x, int64_t diagonal) { return apply1(kTriu, {x}, {diagonal}); }

std::span<const Op* const> create_ops() {
  static const Op* const ops[] = {&kFull,     &kZeros,  &kOnes,     &kEmpty, &kZerosLike, &kOnesLike,
                                  &kFullLike, &kArange, &kLinspace, &kEye,   &kTril,      &kTriu};
  return ops;
}

}  // namespace lunagrad

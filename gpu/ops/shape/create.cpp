// full, zeros, ones and empty; arange, linspace, eye, tril and triu.
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "gpu/ops/copy.h"
#include "gpu/ops/divisor.h"
#include "gpu/ops/kernels.h"
#include "gpu/ops/parts.h"
#include "gpu/ops/words.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

bool supports_create(const Call& call) { return call.output().dtype() != DType::f64; }
bool supports_empty(const Call&) { return true; }

Tensor number_of(const Value& value) {
  if (value.kind == Value::Kind::real) return Tensor::number(value.f);
  return Tensor::number(value.kind == Value::Kind::boolean ? int64_t(value.b) : value.i);
}

void run_full(const Call& call, Recorder& recorder) {
  copy(call.output(), number_of(call.params[1]), recorder);
}
void run_zeros(const Call& call, Recorder& recorder) {
  copy(call.output(), Tensor::number(int64_t(0)), recorder);
}
void run_ones(const Call& call, Recorder& recorder) {
  copy(call.output(), Tensor::number(int64_t(1)), recorder);
}
void run_empty(const Call&, Recorder&) {}

// Evenly spaced numbers: element i is first + i step for i < turn, else last - (count - 1 - i) step.
template <class Number>
struct Evenly {
  Number first, last, step;
  int64_t count, turn;
};
// Calls f(part, elements) for parts of the result that kernels can count, with the numbers of each part.
template <class Number, class F>
void for_each_part(const Tensor& out, const Evenly<Number>& all, F&& f) {
  const int64_t most = most_elements() - 1;
  for (int64_t at = 0; at < all.count; at += most) {
    const int64_t count = std::min(most, all.count - at), after = all.count - at - count;
    f(Evenly<Number>{all.first + Number(at) * all.step, all.last - Number(after) * all.step, all.step, count,
                     std::clamp<int64_t>(all.turn - at, 0, count)},
      window(out, {count}, {1}, at));
  }
}

struct RampPushConstants {
  uint64_t result;
  int64_t whole_first, whole_step;
  float first[2], last[2], step[4];
  uint32_t count, turn;
};
static_assert(sizeof(RampPushConstants) <= kPushConstantBytes);

// Splits a double into a sum of floats with `bits` significant bits each, largest first.
template <size_t n>
void split(double value, int bits, float (&parts)[n]) {
  for (float& part : parts) {
    int exponent = 0;
    std::frexp(value, &exponent);
    part = float(std::ldexp(std::nearbyint(std::ldexp(value, bits - exponent)), exponent - bits));
    value -= double(part);
  }
}
template <class Number>
void launch_ramp(const Tensor& out, const Evenly<Number>& all, Recorder& recorder) {
  constexpr bool kWhole = std::is_same_v<Number, int64_t>;
  for_each_part(out, all, [&](const Evenly<Number>& numbers, const Tensor& part) {
    RampPushConstants push{};
    push.count = uint32_t(numbers.count);
    push.turn = uint32_t(numbers.turn);
    if constexpr (kWhole) {
      push.whole_first = numbers.first;
      push.whole_step = numbers.step;
    } else {
      split(numbers.first, 24, push.first);
      split(numbers.last, 24, push.last);
      split(numbers.step, 12, push.step);
    }
    Launch launch(recorder);
    push.result = launch.writes(part);
    launch.run(shaders::Ramp{.type = uint32_t(out.dtype()), .whole = kWhole},
               {groups_for(push.count, recorder)}, {}, bytes_of(push));
  });
}

double real_of(const Value& value) { return value.kind == Value::Kind::real ? value.f : double(value.i); }

// The parameters of arange. They become integers if their values are whole, even if they are given as floats.
struct ArangeParams {
  Value start, step;
  bool whole;
  explicit ArangeParams(const Call& call)
      : start(call.params[1].present() ? call.params[0] : Value(0)), step(call.params[2]) {
    const auto is_whole = [](Value& value) {
      if (value.kind == Value::Kind::integer) return true;
      if (std::abs(value.f) > 0x1p53 || value.f != std::trunc(value.f)) return false;
      value = Value(int64_t(value.f));
      return true;
    };
    whole = is_whole(start) && is_whole(step);
  }
};

// Push constants of ramp_whole.comp, which computes in double precision and truncates to integers.
struct WholeRampPushConstants {
  uint64_t result;
  double first, last, step;
  uint32_t count, turn;
};
void launch_whole_ramp(const Tensor& out, const Evenly<double>& all, Recorder& recorder) {
  for_each_part(out, all, [&](const Evenly<double>& numbers, const Tensor& part) {
    WholeRampPushConstants push{.result = 0,
                                .first = numbers.first,
                                .last = numbers.last,
                                .step = numbers.step,
                                .count = uint32_t(numbers.count),
                                .turn = uint32_t(numbers.turn)};
    Launch launch(recorder);
    push.result = launch.writes(part);
    launch.run(shaders::RampWhole{.type = uint32_t(out.dtype())}, {groups_for(push.count, recorder)}, {},
               bytes_of(push));
  });
}

bool cuts_arange(const Call& call) { return is_integral(call.output().dtype()) && !ArangeParams(call).whole; }
void run_arange(const Call& call, Recorder& recorder) {
  const ArangeParams range(call);
  const Tensor& out = call.output();
  const int64_t n = out.numel();
  if (range.whole && !cuts_arange(call))
    return launch_ramp<int64_t>(out, {range.start.i, 0, range.step.i, n, n}, recorder);
  const Evenly<double> numbers{real_of(range.start), 0, real_of(range.step), n, n};
  cuts_arange(call) ? launch_whole_ramp(out, numbers, recorder) : launch_ramp(out, numbers, recorder);
}

bool cuts_linspace(const Call& call) { return is_integral(call.output().dtype()); }
void run_linspace(const Call& call, Recorder& recorder) {
  const double start = call.real(0), end = call.real(1);
  const int64_t n = call.output().numel();
  const double step = n > 1 ? (end - start) / double(n - 1) : 0;
  const Evenly<double> numbers{start, end, step, n, n == 1 ? 1 : n / 2};
  cuts_linspace(call) ? launch_whole_ramp(call.output(), numbers, recorder)
                      : launch_ramp(call.output(), numbers, recorder);
}

void run_eye(const Call& call, Recorder& recorder) {
  const Tensor& out = call.output();
  run_zeros(call, recorder);
  const int64_t n = std::min(out.size(0), out.size(1));
  copy(window(out, {n}, {out.size(1) + 1}), Tensor::number(int64_t(1)), recorder);
}

struct TrianglePushConstants {
  uint64_t result, operand;
  int64_t diagonal;
  uint32_t count, rows, columns;
  Divisor by_rows, by_columns;
};
static_assert(sizeof(TrianglePushConstants) <= kPushConstantBytes);
bool supports_triangle(const Call& call) { return indexable(call.output()); }
bool slice_triangle(Call& call, int dim, int64_t first, int64_t size) {
  const int dims = call.output().ndim();
  if (dim == dims - 2) call.params[0] = call.integer(0) + first;
  if (dim == dims - 1) call.params[0] = call.integer(0) - first;
  return slice_pointwise(call, dim, first, size);
}
template <bool lower>
void run_triangle(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const Tensor x = contiguous(call.input(0));
  Launch launch(recorder);
  TrianglePushConstants push{};
  push.result = launch.writes(call.output());
  push.operand = launch.reads(x);
  push.diagonal = call.integer(0);
  const Words words = words_of(x.dtype(), uint64_t(x.size(-1)), push.result | push.operand);
  const uint32_t elements = words.bytes == 16 ? uint32_t(words.elements) : 1;
  push.count = uint32_t(x.numel() / elements);
  push.rows = uint32_t(x.size(-2));
  push.columns = uint32_t(x.size(-1) / elements);
  push.by_rows = Divisor(push.rows);
  push.by_columns = Divisor(push.columns);
  launch.run(shaders::Triangle{.type = raw_type(x.dtype()), .lower = lower, .elements = elements},
             {groups_for(push.count, recorder)}, {}, bytes_of(push));
}

}  // namespace

std::vector<KernelEntry> create_kernels() {
  return {{find_op("arange"), {supports_create, run_arange, false, cuts_arange}},
          {find_op("linspace"), {supports_create, run_linspace, false, cuts_linspace}},
          {find_op("eye"), {supports_create, run_eye, true}},
          {find_op("tril"), {supports_triangle, run_triangle<true>, true, nullptr, slice_triangle}},
          {find_op("triu"), {supports_triangle, run_triangle<false>, true, nullptr, slice_triangle}},
          {find_op("full"), {supports_create, run_full, true}},
          {find_op("zeros"), {supports_create, run_zeros, true}},
          {find_op("ones"), {supports_create, run_ones, true}},
          {find_op("empty"), {supports_empty, run_empty, true}}};
}

}  // namespace lunagrad::gpu

// Integers and 16-bit floats on the Vulkan device, in kernels other than the elementwise ones.
#include <cstdio>
#include <cstdlib>
#include <set>

#include "tests/gpu/run_sample.h"
#include "tests/support/message_of.h"

namespace lunagrad::tests {
namespace {

constexpr DType kIntegers[] = {DType::u8, DType::i32, DType::i64};
constexpr DType kOrdered[] = {DType::boolean, DType::u8,   DType::i32, DType::i64,
                              DType::f16,     DType::bf16, DType::f32};

// Numbers of a type, many of them equal. i64 includes its extreme values.
Tensor repeated_numbers(const Shape& shape, DType type, uint64_t stream) {
  if (type == DType::boolean) return gt(random(shape, stream), Tensor::number(0.0));
  const Tensor x = to(floor(random(shape, stream, type == DType::u8 ? 0 : -90, 90)), type);
  return type == DType::i64 ? x * Tensor::number(int64_t(100000000000000001)) : x;
}
// to_vector<double>() is exact for f16 and bf16, not for i64.
bool same(const Tensor& got, const Tensor& expected) {
  if (got.dtype() != expected.dtype() || !(got.shape() == expected.shape())) return false;
  return got.dtype() == DType::i64 ? got.to_vector<int64_t>() == expected.to_vector<int64_t>()
                                   : distance(got, expected) == 0;
}

// While it lives, an op that the device lacks is an error.
struct OnDevice {
  OnDevice() { context().strict_device = true; }
  ~OnDevice() { context().strict_device = false; }
};

TEST_CASE("ops are refused for the types that the device lacks") {
  const OnDevice strictly;
  const Tensor x = to(Tensor::from<double>(std::vector<double>{1, 2, 3, 4}, {2, 2}), gpu());
  const std::string name(gpu().name());
  const std::string rest = ", and --strict-device forbids the CPU";
  CHECK_THROWS_WITH(matmul(x, x), ("matmul: " + name + " cannot run this op on f64" + rest).c_str());
  CHECK_THROWS_WITH(to(x, DType::f32),
                    ("cast: " + name + " cannot run this op on f64 to f32" + rest).c_str());
}

TEST_CASE("rows of every type and any length are sorted") {
  const NoGrad off;
  const Fallbacks fallbacks;
  for (const DType type : kOrdered)
    for (const int64_t n : {1, 3, 2048, 2049, 9000}) {
      const Tensor x = repeated_numbers({2, n, 2}, type, 1), there = arrange(x, Arrangement::transposed);
      for (const bool descending : {false, true}) {
        const auto expected = sort(x, 1, descending), got = sort(there, 1, descending);
        CHECK_MESSAGE(same(got.first, expected.first), n << " of " << type);
        CHECK_MESSAGE(same(got.second, expected.second), "places of " << n << " of " << type);
        const auto best = topk(x, (n + 1) / 2, 1, descending),
                   found = topk(there, (n + 1) / 2, 1, descending);
        CHECK_MESSAGE((same(found.first, best.first) && same(found.second, best.second)),
                      "topk, " << n << " of " << type);
      }
      CHECK_MESSAGE(same(median(there), median(x)), "median, " << n << " of " << type);
    }
  // Many short rows, which share a work group, and long ones, with NaN and zeros of both signs.
  for (const Shape& shape : {Shape{5000}, Shape{2, 70001}, Shape{701, 9}}) {
    std::vector<float> special = uniform(numel(shape), 3);
    special[17] = NAN, special[4000] = NAN, special[100] = -0.0f, special[101] = 0.0f,
    special[50] = -INFINITY;
    const Tensor x = Tensor::from<float>(special, shape);
    for (const bool descending : {false, true}) {
      const auto expected = sort(x, -1, descending), got = sort(to(x, gpu()), -1, descending);
      CHECK_MESSAGE((same(got.first, expected.first) && same(got.second, expected.second)), shape);
    }
  }
  CHECK(fallbacks.ops.empty());
}

TEST_CASE("argmax and argmin of every type, and cumsum of integers") {
  const NoGrad off;
  const Fallbacks fallbacks;
  for (const DType type : kOrdered) {
    const Tensor x = repeated_numbers({7, 90, 5}, type, 1);
    for (const Arrangement arrangement :
         {Arrangement::contiguous, Arrangement::transposed, Arrangement::sliced}) {
      const Tensor there = arrange(x, arrangement);
      for (const int dim : {0, 1, 2}) {
        CHECK_MESSAGE(same(argmax(there, dim, false), argmax(x, dim, false)), "argmax of " << type);
        CHECK_MESSAGE(same(argmin(there, dim, true), argmin(x, dim, true)), "argmin of " << type);
        CHECK_MESSAGE(same(max(there, dim, false).first, max(x, dim, false).first), "max of " << type);
        CHECK_MESSAGE(same(min(there, dim, false).first, min(x, dim, false).first), "min of " << type);
        if (is_integral(type)) CHECK_MESSAGE(same(cumsum(there, dim), cumsum(x, dim)), "cumsum of " << type);
      }
    }
  }
  const std::vector<int64_t> ends = {INT64_MAX, INT64_MIN, INT64_MAX - 1, INT64_MIN};
  const Tensor x = Tensor::from<int64_t>(ends, {4}, gpu());
  CHECK(argmax(x, 0, false).item_integer() == 0);
  CHECK(argmin(x, 0, false).item_integer() == 1);
  CHECK(fallbacks.ops.empty());
}

TEST_CASE("products of integers wrap around as on the CPU") {
  const NoGrad off;
  const Fallbacks fallbacks;
  for (const DType type : kIntegers)
    for (const Factors& c : all_factors()) {
      const Tensor a = repeated_numbers(c.a, type, 1), b = repeated_numbers(c.b, type, 2),
                   expected = matmul(a, b);
      for (const Arrangement left : {Arrangement::contiguous, Arrangement::transposed})
        for (const Arrangement right : {Arrangement::contiguous, Arrangement::sliced})
          CHECK_MESSAGE(same(matmul(arrange(a, left), arrange(b, right)), expected),
                        "matmul of " << type << text(c.a, " and ", c.b));
    }
  CHECK(fallbacks.ops.empty());
}

TEST_CASE("arange and linspace are truncated to integers, or refused, as on the CPU") {
  const Fallbacks fallbacks;
  // The values of a device, or the error.
  const auto made = [](auto make, Device& device) -> std::pair<std::vector<int64_t>, std::string> {
    try {
      return {make(device).template to_vector<int64_t>(), ""};
    } catch (const Error& error) {
      return {{}, error.what()};
    }
  };
  const auto check = [&](DType type, bool fits, auto make) {
    INFO(type);
    const auto there = made(make, gpu()), here = made(make, cpu_device());
    CHECK(there == here);
    CHECK(here.second.empty() == fits);
  };
  for (const DType type : {DType::boolean, DType::u8, DType::i32, DType::i64}) {
    const bool is_bool = type == DType::boolean, is_wide = is_bool || type == DType::i64;
    for (const int64_t steps : {1, 2, 22, 1001}) {
      check(type, true, [&](Device& device) { return linspace(0, 7, steps, type, device); });
      check(type, is_wide, [&](Device& device) { return linspace(-1e10, 1e10, steps, type, device); });
      check(type, is_bool, [&](Device& device) { return linspace(-1e19, 2e19, steps, type, device); });
    }
    check(type, is_bool, [&](Device& device) { return linspace(NAN, 1, 5, type, device); });
    check(type, is_bool, [&](Device& device) { return linspace(-INFINITY, 1, 5, type, device); });
    const bool is_small = type == DType::u8;
    check(type, !is_small, [&](Device& device) { return arange(0.1, 700, 0.1, type, device); });
    check(type, !is_small, [&](Device& device) { return arange(5, -700.5, -1.0 / 3, type, device); });
  }
  CHECK(fallbacks.ops.empty());
}

TEST_CASE("isclose of integers is as exact as on the CPU") {
  const NoGrad off;
  const OnDevice strictly;  // the CPU compares in f64, which Fallbacks does not count
  const std::vector<int64_t> a = {0, 100000, 100002, 1, INT64_MAX, INT64_MIN, -7, 1000000},
                             b = {0, 100001, 100000, 2, INT64_MIN, INT64_MIN, -7, 1000010};
  for (const DType type : {DType::boolean, DType::u8, DType::i32, DType::i64})
    for (const DType other : {type, DType::f32, DType::f16}) {
      const Tensor x = to(Tensor::from<int64_t>(a, {8}), type),
                   y = to(reshape(Tensor::from<int64_t>(b, {8}), {8, 1}), other);
      CHECK_MESSAGE(same(isclose(to(x, gpu()), to(y, gpu())), isclose(x, y)), type << " and " << other);
      CHECK_MESSAGE(same(isclose(to(y, gpu()), to(x, gpu())), isclose(y, x)), other << " and " << type);
    }
  const std::vector<float> bad = {INFINITY, -INFINITY, NAN, 0, 1e30f, 5, 100001, -7};
  const Tensor x = Tensor::from<int64_t>(a, {8}), odd = Tensor::from<float>(bad, {8, 1});
  CHECK(same(isclose(to(x, gpu()), to(odd, gpu())), isclose(x, odd)));
  CHECK(same(isclose(to(odd, gpu()), to(x, gpu())), isclose(odd, x)));
  for (const Tensor& number : {Tensor::number(100001.0), Tensor::number(int64_t(100001))})
    CHECK(same(isclose(to(x, gpu()), number), isclose(x, number)));
}

// How far a result on the device may be from the CPU's, relative to the largest element. 16-bit floats are
// computed in f32 and rounded: two results that round to different sides differ by one ulp (2^-10 of f16,
// 2^-7 of bf16), and a composition rounds twice. f32 results of integers and 16-bit floats have f32's bound.
double bound_of(DType type) {
  if (type == DType::bf16) return 0x1p-6;
  if (type == DType::f16) return 0x1p-9;
  return is_integral(type) ? 0 : kTolerance;
}

TEST_CASE("every op sample runs on the device in every type that it takes") {
  std::map<std::string, std::set<std::string>> missing;  // kernel -> types
  const bool all = std::getenv("LUNAGRAD_TEST_ALL");     // else each sample runs in one type, in turn
  constexpr DType kTypes[] = {DType::boolean, DType::u8, DType::i32, DType::i64, DType::f16, DType::bf16};
  size_t turn = 0;
  int runs = 0, refusals = 0;
  for (const Sample& sample : samples()) {
    const Op& op = *find_op(sample.op);
    if (sample.inputs.empty() || asks_for_c128(op, sample)) continue;
    const DType its_turn = kTypes[turn++ % std::size(kTypes)];
    for (const DType type : kTypes) {
      if (!all && type != its_turn) continue;
      const std::string what = name_of(sample) + " of " + dtype_name(type);
      CAPTURE(what);
      TensorList here;
      for (const Tensor& x : sample_inputs(sample))
        here.push_back(x.defined() && is_floating(x.dtype()) ? to(x, type) : x);
      const Values params = complete(op, sample.params);
      const auto run_on = [&](Device& device) {
        const NoGrad off;
        Operands inputs;
        for (const Tensor& x : here) inputs.push_back(x.defined() ? to(x, device) : x);
        context().generator.seed(11);
        return apply(op, inputs, params);
      };
      if (!takes(sample, type)) {
        ++refusals;
        const std::string message = error_of([&] { run_on(cpu_device()); });
        // The message names the called function; for a hidden record only the functions that use it are
        // known.
        const char* const called = op.hidden() ? op.short_form : op.name;
        CHECK_MESSAGE(message.starts_with(called ? called + std::string(":") : ""), message);
        CHECK(message != "");
        CHECK(error_of([&] { run_on(gpu()); }) == message);
        continue;
      }
      ++runs;
      const Operands expected = run_on(cpu_device());
      Fallbacks fallbacks;
      const Operands got = run_on(gpu());
      for (const auto& [name, count] : fallbacks.ops) missing[name].insert(dtype_name(type));
      for (size_t i = 0; i < got.size(); ++i) {
        CHECK_MESSAGE(got[i].dtype() == expected[i].dtype(), "result " << i);
        CHECK_MESSAGE(distance(without_free_signs(op, got[i]), without_free_signs(op, expected[i])) <=
                          bound_of(got[i].dtype()),
                      "result " << i);
      }
    }
  }
  std::printf("%d samples, and %d that refuse the type\n", runs, refusals);
  for (const auto& [kernel, types] : missing) {
    std::string list;
    for (const std::string& type : types) list += " " + type;
    CHECK_MESSAGE(kOnTheCpu.count(kernel) == 1, kernel << " must run on the device:" << list);
  }
}

}  // namespace
}  // namespace lunagrad::tests

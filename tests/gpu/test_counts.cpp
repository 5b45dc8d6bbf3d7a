// Counts of numbers, lists of elements whose number depends on the values, and means by index, at the ends of
// tiles and pieces.
#include <limits>
#include <set>

#include "tests/gpu/compare.h"
#include "tests/support/message_of.h"
#include "tests/support/timing.h"

namespace lunagrad::tests {
namespace {

const int64_t kLengths[] = {1, 7, 2047, 2048, 2049, 4095, 4096, 4097, 8191, 8192, 8193, 3 * 8192 + 7, 70001};

// Small halves, with many equal ones; floats also have NaN, infinity and both zeros.
Tensor halves(int64_t n, uint64_t stream, DType type) {
  Tensor x = round(random({n}, stream, -4, 4)) / 2.0;
  if (!is_floating(type)) return to(type == DType::u8 || type == DType::boolean ? abs(x) : x, type);
  const Tensor odd = random({n}, stream + 1, 0, 100);
  x = where(lt(odd, Tensor::number(1.0)), Tensor::number(double(NAN)), x);
  x = where(gt(odd, Tensor::number(99.0)), Tensor::number(double(INFINITY)), x);
  x = where(lt(abs(odd - 50.0), Tensor::number(1.0)), Tensor::number(-0.0), x);
  return to(x, type);
}
const DType kTypes[] = {DType::boolean, DType::u8,   DType::i32, DType::i64,
                        DType::f16,     DType::bf16, DType::f32};

TEST_CASE("elements are listed and sorted at the ends of tiles as on the CPU") {
  const NoGrad off;
  const Fallbacks fallbacks;
  uint64_t stream = 4000;
  const Op &unique = *find_op("unique"), &runs = *find_op("unique_consecutive");
  Turns turns(5);
  for (const int64_t n : kLengths)
    for (const DType type : kTypes) {
      if (!turns.next()) continue;
      CAPTURE(n);
      CAPTURE(type);
      const Tensor x = halves(n, stream += 2, type), there = to(x, gpu());
      CHECK(words(nonzero(there)) == words(nonzero(x)));
      for (const bool counts : {false, true}) {
        const Operands found = apply(runs, {there}, {false, counts, {}}),
                       expected = apply(runs, {x}, {false, counts, {}});
        for (size_t k = 0; k < expected.size(); ++k) CHECK(words(found[k]) == words(expected[k]));
        if (type == DType::boolean) continue;
        const Operands all = apply(unique, {there}, {true, false, counts, {}}),
                       wanted = apply(unique, {x}, {true, false, counts, {}});
        for (size_t k = 0; k < wanted.size(); ++k) CHECK(words(all[k]) == words(wanted[k]));
      }
    }
  CHECK(nonzero(to(zeros({0, 3}, DType::f32), gpu())).shape() == Shape{0, 2});
  require_none(fallbacks);
}

TEST_CASE("many tiles are a chunk of a sorted row, whose equal elements keep their order") {
  const NoGrad off;
  constexpr int64_t kLong = 9'000'000;  // more than two tiles for each of 2048 chunks
  const Tensor x = to(floor(random({kLong}, 71, 0, 1000)), DType::u8), there = to(x, gpu());
  for (const bool descending : {false, true}) {
    const Operands got = apply(*find_op("sort"), {there}, {0, descending, false}),
                   expected = apply(*find_op("sort"), {x}, {0, descending, false});
    CHECK(words(got[0]) == words(expected[0]));
    CHECK(words(got[1]) == words(expected[1]));
  }
}

TEST_CASE("numbers are counted as on the CPU") {
  const NoGrad off;
  const Fallbacks fallbacks;
  uint64_t stream = 5000;
  const Op &histc = *find_op("histc"), &bincount = *find_op("bincount");
  for (const int64_t n : kLengths) {
    CAPTURE(n);
    for (const DType type : {DType::f32, DType::f16, DType::bf16}) {
      Tensor x = to(random({n}, ++stream, -3, 3), type);
      for (const int64_t bins : {1, 37, 9000}) {
        CHECK(words(apply1(histc, {to(x, gpu())}, {bins, 0.0, 0.0})) ==
              words(apply1(histc, {x}, {bins, 0.0, 0.0})));
        x = halves(n, ++stream, type);
        CHECK(words(apply1(histc, {to(x, gpu())}, {bins, -1.0, 1.5})) ==
              words(apply1(histc, {x}, {bins, -1.0, 1.5})));
        x = to(random({n}, ++stream, -3, 3), type);
      }
    }
    for (const DType type : {DType::u8, DType::i32, DType::i64})
      for (const double most : {3.0, 250.0, 20000.0}) {
        if (type == DType::u8 && most > 255) continue;
        const Tensor x = to(random({n}, ++stream, 0, most), type);
        CHECK(words(apply1(bincount, {to(x, gpu()), {}}, {5})) == words(apply1(bincount, {x, {}}, {5})));
      }
  }
  require_none(fallbacks);
}

Tensor mean_at(const Tensor& x, const Tensor& index, const Tensor& source, bool include_self) {
  return apply1(*find_op("scatter_reduce"), {x, index, source}, {0, 2, include_self});
}

TEST_CASE("means by index are right at the ends of parts, with the same bits every time") {
  const NoGrad off;
  const Fallbacks fallbacks;
  uint64_t stream = 6000;
  for (const int64_t n : kLengths)
    for (const int64_t rows : {1, 2, 16, 300})
      for (const int64_t columns : {1, 8, 36}) {
        if (n * columns > 100'000) continue;
        CAPTURE(n);
        CAPTURE(rows);
        CAPTURE(columns);
        const Tensor index = expand(to(random({n, 1}, ++stream, 0, double(rows)), DType::i64), {n, columns}),
                     x = random({rows, columns}, ++stream), source = random({n, columns}, ++stream);
        for (const bool self : {false, true}) {
          const Tensor there = to(index, gpu()), a = to(x, gpu()), b = to(source, gpu());
          const Tensor got = mean_at(a, there, b, self);
          CHECK(distance(got, mean_at(to(x, DType::f64), index, to(source, DType::f64), self)) < 1e-5);
          CHECK(words(got) == words(mean_at(a, there, b, self)));
        }
      }
  // The sum is too large, the mean is not.
  const double large = std::numeric_limits<float>::max();
  const Tensor index = to(to(random({5000}, 1, 0, 3), DType::i64), gpu()),
               source = to(full({5000}, large, DType::f32), gpu()), x = to(zeros({4}, DType::f32), gpu());
  const std::vector<float> means = mean_at(x, index, source, false).to_vector<float>();
  for (int k = 0; k < 3; ++k) CHECK(means[size_t(k)] == doctest::Approx(large));
  CHECK(means[3] == 0);
  require_none(fallbacks);
}

TEST_CASE("gradients of means by index are the CPU's in both orders") {
  for (const bool self : {false, true}) {
    const Tensor index = to(random({40, 3}, 1, 0, 5), DType::i64),
                 one = expand(narrow(index, 1, 0, 1), {40, 3});
    for (const Tensor& by : {index, one}) {
      const auto gradients_on = [&](Device& device) {
        const Tensor x = to(random({5, 3}, 2), device).requires_grad_(true),
                     source = to(random({42, 3}, 3), device).requires_grad_(true);
        const Tensor y = mean_at(x, to(by, device), source, self);
        const TensorList first = grad({sum(y * y * y)}, {x, source}, {}, {{.create_graph = true}});
        const TensorList second = grad({sum(first[0] * first[0]) + sum(first[1] * first[1])}, {x, source});
        return TensorList{first[0], first[1], second[0], second[1]};
      };
      const TensorList here = gradients_on(cpu_device()), there = gradients_on(gpu());
      for (size_t k = 0; k < here.size(); ++k) CHECK(distance(there[k], here[k]) < 1e-5);
    }
  }
}

TEST_CASE("offsets of bags are checked on the device, without a wait") {
  const NoGrad off;
  const Tensor ids = to(Tensor::from<int64_t>(std::vector<int64_t>{0, 1, 2, 1, 0}, {5}), gpu()),
               table = to(random({3, 8}, 9), gpu());
  const auto bags = [&](const std::vector<int64_t>& offsets) {
    return apply1(*find_op("embedding_bag"),
                  {ids, table, to(Tensor::from<int64_t>(offsets, {int64_t(offsets.size())}), gpu()), {}},
                  {{}, 2.0, false, 1, false, false, {}})
        .to_vector<float>();
  };
  CHECK(bags({0, 2, 2, 5}).size() == 32);
  const auto told = [&](const std::vector<int64_t>& offsets) { return message_of([&] { bags(offsets); }); };
  CHECK(told({0, 6}).find(
            "embedding_bag: offsets must begin with 0 and grow to at most 5 (got 6 at position 2)") == 0);
  CHECK(told({1, 2}).find(
            "embedding_bag: offsets must begin with 0 and grow to at most 5 (got 1 at position 1)") == 0);
  CHECK(told({0, 3, -7}).find("embedding_bag: offsets must begin with 0") == 0);
  for (const int64_t mode : {0, 1, 2})
    CHECK(message_of([&] {
            apply1(*find_op("embedding_bag"),
                   {reshape(ids, {1, 5}), zeros({0, 3}, DType::f32, gpu()), {}, {}},
                   {{}, 2.0, false, mode, false, false, {}})
                .to_vector<float>();
          }).find("out of range") != std::string::npos);
}

TEST_CASE("bags with padding and their largest rows have one kernel for each pass, with the CPU's results") {
  // The names of the ops of the calls.
  class Names final : public Trace {
   public:
    Names() : previous_(context().trace) { context().trace = this; }
    ~Names() override { context().trace = previous_; }
    void ran(const Call& call, uint64_t) override { all.insert(call.op->name); }
    void fell_back(const Call& call, const char*) override { on_the_cpu.insert(call.op->name); }
    std::set<std::string> all, on_the_cpu;

   private:
    Trace* previous_;
  };
  const Op& op = *find_op("embedding_bag");
  constexpr int64_t kMean = 0, kSum = 1, kMax = 2, kIds = 300;
  const Tensor ids = to(floor(random({kIds}, 31, 0, 19.99)), DType::i64);
  for (const int64_t mode : {kMax, kSum, kMean})
    for (const DType type : {DType::f32, DType::f16, DType::bf16})
      for (const int64_t width : {1, 6, 8})
        for (const bool pads : {false, true})
          for (const std::vector<int64_t>& offsets :
               {std::vector<int64_t>{0}, {0, 0, 7, 100, 100, 290}, {0, 300}}) {
            if (mode != kMax && type != DType::f32) continue;
            INFO(text("mode ", mode, ' ', type, " width ", width, pads ? " padding" : "", ' ',
                      offsets.size()));
            const Tensor starts = Tensor::from<int64_t>(offsets, {int64_t(offsets.size())});
            Tensor table = round(random({20, width}, 32, -3, 3)) / 2.0;
            if (mode == kMax)
              table =
                  where(gt(random({20, width}, 33, 0, 1), Tensor::number(0.97)), Tensor::number(NAN), table);
            const Value padding = pads ? Value(int64_t(3)) : Value();
            const Values params = {{}, 2.0, false, mode, false, false, padding};
            const auto run = [&](const Tensor& rows, Device& device) {
              const Tensor leaf = to(to(rows, type), device).detach().requires_grad_();
              const Tensor y = apply1(op, {to(ids, device), leaf, to(starts, device), {}}, params);
              backward(y, to(to(round(random(y.shape(), 34, -4, 4)), type), device));
              return Operands{y.detach(), leaf.grad()};
            };
            const Operands here = run(table, cpu_device());
            const Names names;
            const Operands there = run(table, gpu()), again = run(table, gpu());
            CHECK(names.all.count(mode == kMax ? "_embedding_bag_max" : "_embedding_bag_sum") == 1);
            CHECK(names.all.count("max") == 0);
            CHECK(names.on_the_cpu.empty());
            // Vulkan promises a quotient to 2.5 ulp; maxima and sums of halves are exact.
            if (mode == kMean)
              CHECK(distance(there[0], here[0]) < 1e-6);
            else
              CHECK(words(there[0]) == words(here[0]));
            CHECK(distance(there[1], here[1]) < 1e-6);
            for (const size_t i : {0, 1}) CHECK(words(again[i]) == words(there[i]));
          }
}

}  // namespace
}  // namespace lunagrad::tests

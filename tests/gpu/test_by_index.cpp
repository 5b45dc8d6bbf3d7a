// Reductions, writes and reads by index: indices that repeat along other dims, indices that are used again,
// and positions that several index tensors name together.
#include "gpu/device/device.h"
#include "tests/gpu/compare.h"
#include "tests/support/message_of.h"
#include "tests/support/timing.h"

namespace lunagrad::tests {
namespace {

// Small whole numbers, with NaN, infinities and negative zeros among floats.
Tensor numbers_to_reduce(const Shape& shape, uint64_t stream, DType type) {
  Tensor x = floor(random(shape, stream, 0, 9));
  if (is_floating(type)) {
    const Tensor odd = random(shape, stream + 50, 0, 300);
    x = x - 4.0;
    x = where(lt(odd, Tensor::number(1.0)), Tensor::number(NAN), x);
    x = where(gt(odd, Tensor::number(298.0)), Tensor::number(INFINITY), x);
    x = where(lt(abs(odd - 100.0), Tensor::number(1.0)), Tensor::number(-INFINITY), x);
    x = where(eq(x, Tensor::number(1.0)), Tensor::number(-0.0), x);
  }
  return to(x, type);
}
// 1 and -1, whose products are exact in any order.
Tensor numbers_to_multiply(const Shape& shape, uint64_t stream, DType type) {
  return to(where(gt(random(shape, stream), Tensor::number(0.0)), full(shape, 1.0, DType::f32),
                  full(shape, type == DType::u8 ? 3.0 : -1.0, DType::f32)),
            type);
}
Tensor drawn_indices(const Shape& shape, int64_t size, uint64_t stream, DType type = DType::i64) {
  return to(clamp(floor(random(shape, stream, 0, double(size))), 0, double(size - 1)), type);
}
Tensor scatter_reduced(const Tensor& x, int dim, const Tensor& index, const Tensor& source, int64_t kind) {
  return apply1(*find_op("_scatter_reduce"), {x, index, source}, {dim, kind});
}

// The shape of a target, of an index, and the shape to which the index is expanded.
struct IndexCase {
  Shape target;
  int dim;
  Shape index, expanded;
};
const std::vector<IndexCase>& index_cases() {
  static const std::vector<IndexCase> all = {
      {{1000}, 0, {20000}, {20000}},
      {{3}, 0, {9000}, {9000}},
      {{1}, 0, {300}, {300}},
      {{2, 90}, 1, {2, 3000}, {2, 3000}},
      {{90, 5}, 0, {700, 1}, {700, 5}},  // a key for each row
      {{90, 8}, 0, {3000, 1}, {3000, 8}},
      {{40, 3, 4}, 0, {900, 1, 1}, {900, 3, 4}},
      {{3, 40, 4}, 1, {1, 900, 1}, {3, 900, 4}},
      {{3, 4, 40}, 2, {1, 1, 900}, {3, 4, 900}},
      {{3, 40, 6}, 1, {3, 900, 1}, {3, 900, 6}},  // a key for each row of a part
      {{6, 3, 40, 2}, 2, {1, 3, 100, 1}, {6, 3, 100, 2}},
      {{90, 5}, 0, {700, 1}, {700, 3}},  // smaller than the target in another dim
      {{3, 40, 6}, 1, {1, 900, 1}, {2, 900, 6}},
      {{90, 5}, 0, {70, 1}, {70, 5}},
      {{5, 2500}, 0, {70, 2500}, {70, 2500}},  // long lanes
      {{5, 2500}, 0, {40, 1}, {40, 2500}},
      {{90, 1}, 0, {700, 1}, {700, 1}},
  };
  return all;
}

TEST_CASE("reductions by index of every shape and type are the CPU's, on every repeat") {
  const NoGrad off;
  const Fallbacks fallbacks;
  uint64_t stream = 2000;
  Turns turns(2);
  for (const DType type : {DType::u8, DType::i64, DType::f32})
    for (const IndexCase& c : index_cases()) {
      if (!turns.next()) continue;
      // Integers share the ways of f32.
      if (type != DType::f32 && c.index.size() > 2) continue;
      stream += 10;
      CAPTURE(type);
      CAPTURE(c.target);
      CAPTURE(c.expanded);
      const Tensor one = drawn_indices(c.index, c.target[c.dim], stream), index = expand(one, c.expanded);
      const Tensor there = expand(to(one, gpu()), c.expanded);
      for (const int64_t kind : {0, 1, 2}) {
        const Tensor x = kind == 0 ? numbers_to_multiply(c.target, stream + 1, type)
                                   : numbers_to_reduce(c.target, stream + 1, type);
        const Tensor source = kind == 0 ? numbers_to_multiply(c.expanded, stream + 2, type)
                                        : numbers_to_reduce(c.expanded, stream + 2, type);
        const std::vector<int64_t> expected = words(scatter_reduced(x, c.dim, index, source, kind));
        CHECK(words(scatter_reduced(to(x, gpu()), c.dim, there, to(source, gpu()), kind)) == expected);
        CHECK(words(scatter_reduced(arrange(x, Arrangement::transposed), c.dim, there,
                                    arrange(source, Arrangement::sliced), kind)) == expected);
      }
      if (type != DType::f32) continue;
      const Tensor x = to(random(c.target, stream + 3), gpu()),
                   source = to(random(c.expanded, stream + 4, 0.9, 1.1), gpu());
      CHECK(words(scatter_reduced(x, c.dim, there, source, 0)) ==
            words(scatter_reduced(x, c.dim, there, source, 0)));
      CHECK(distance(scatter_reduced(x, c.dim, there, source, 0),
                     scatter_reduced(to(to(x, cpu_device()), DType::f64), c.dim, index,
                                     to(to(source, cpu_device()), DType::f64), 0)) < 1e-3);
    }
  require_none(fallbacks);
}

TEST_CASE("indices that repeat along other dims read, write and add as on the CPU") {
  const NoGrad off;
  const Fallbacks fallbacks;
  uint64_t stream = 9000;
  Turns turns(3);
  for (const IndexCase& c : index_cases())
    for (const DType type : {DType::i32, DType::f32, DType::u8, DType::c64}) {
      if (!turns.next()) continue;
      stream += 10;
      CAPTURE(type);
      CAPTURE(c.target);
      CAPTURE(c.expanded);
      const Tensor one = drawn_indices(c.index, c.target[c.dim], stream, DType::i32),
                   index = expand(one, c.expanded), there = expand(to(one, gpu()), c.expanded);
      const Tensor x = to(floor(random(c.target, stream + 1, 0, 9)), type),
                   source = to(floor(random(c.expanded, stream + 2, 0, 9)), type);
      const auto check = [&](auto&& f) {
        for (const Arrangement layout : {Arrangement::contiguous, Arrangement::transposed})
          CHECK(distance(f(arrange(x, layout), there, arrange(source, layout)), f(x, index, source)) == 0);
      };
      check([&](const Tensor& a, const Tensor& i, const Tensor&) { return gather(a, c.dim, i); });
      check([&](const Tensor& a, const Tensor& i, const Tensor& b) { return scatter(a, c.dim, i, b); });
      check([&](const Tensor& a, const Tensor& i, const Tensor& b) { return scatter_add(a, c.dim, i, b); });
      check([&](const Tensor& a, const Tensor& i, const Tensor&) {
        return scatter(a, c.dim, i, Tensor::number(int64_t(7)));
      });
      const Tensor memory = to(x, gpu());
      apply_in_place(*find_op("scatter_add"), {memory, there, to(source, gpu())}, {c.dim});
      CHECK(distance(memory, scatter_add(x, c.dim, index, source)) == 0);
    }
  require_none(fallbacks);
}

TEST_CASE("single elements are read four at a time, and an index out of range is named") {
  const NoGrad off;
  const Fallbacks fallbacks;
  uint64_t stream = 700;
  for (const DType type : {DType::u8, DType::f16, DType::f32, DType::i64})
    for (const DType ids : {DType::u8, DType::i32, DType::i64})
      for (const int64_t size : {1, 16, 200, 256, 257, 5000})
        for (const int64_t first : {0, 1, 4}) {
          const int64_t count = 2103;
          const Tensor x = to(numbers_to_reduce({size}, ++stream, DType::f32), type);
          const Tensor index = drawn_indices({count}, std::min<int64_t>(size, 250), stream, ids);
          const Tensor there = narrow(to(index, gpu()), 0, first, count - first),
                       here = narrow(index, 0, first, count - first);
          INFO(text(type, ' ', ids, ' ', size, " from ", first));
          CHECK(words(gather(to(x, gpu()), 0, there)) == words(gather(x, 0, here)));
          CHECK(words(index_select(to(x, gpu()), 0, there)) == words(gather(x, 0, here)));
        }
  for (const DType ids : {DType::i32, DType::i64})
    for (const int64_t position : {0, 5, 1000, 1002})
      for (const int64_t wrong : {int64_t(-1), int64_t(16), ids == DType::i64 ? int64_t(1) << 32 : 99}) {
        std::vector<int64_t> list(1003, 3);
        list[size_t(position)] = wrong;
        const Tensor index = to(to(Tensor::from<int64_t>(list, {1003}), ids), gpu());
        const std::string error =
            error_of([&] { gather(to(random({16}, 1), gpu()), 0, index).to_vector<float>(); });
        CHECK(error.find(text("gather: index ", std::min<int64_t>(wrong, INT32_MAX), " at position ",
                              position + 1, " is out of range")) == 0);
      }
  require_none(fallbacks);
}

TEST_CASE("an index out of range is named by its position in the expanded index") {
  const NoGrad off;
  std::vector<int64_t> ids(3000, 5);
  ids[1234] = 600;
  const Tensor one = Tensor::from<int64_t>(ids, {3000, 1}, gpu()), index = expand(one, {3000, 4});
  const Tensor x = zeros({600, 4}, DType::f32, gpu()), source = ones({3000, 4}, DType::f32, gpu());
  const std::string told = "index 600 at position 4937 is out of range for a dim of size 600";
  const auto named = [](const std::string& text, auto&& f) { return error_of(f).find(text) == 0; };
  CHECK(named("gather: " + told, [&] { gather(x, 0, index).to_vector<float>(); }));
  CHECK(named("scatter: " + told, [&] { scatter(x, 0, index, source).to_vector<float>(); }));
  CHECK(named("scatter_add: " + told, [&] { scatter_add(x, 0, index, source).to_vector<float>(); }));
  CHECK(
      named("scatter_reduce: " + told, [&] { scatter_reduced(x, 0, index, source, 1).to_vector<float>(); }));
  // The CPU's words, and few indices.
  const Tensor few = narrow(index, 0, 1200, 100);
  const std::string of_few = "index 600 at position 137 is out of range for a dim of size 600";
  CHECK(named("scatter_add: " + of_few,
              [&] { scatter_add(x, 0, few, narrow(source, 0, 0, 100)).to_vector<float>(); }));
  const Tensor here = expand(to(narrow(few, 1, 0, 1), cpu_device()), {100, 4}),
               target = zeros({600, 4}, DType::f32);
  for (const char* op : {"gather", "scatter", "scatter_add", "scatter_reduce"})
    CHECK(named(std::string(op) + ": index 600 at position 137 is out of range for dim 1", [&] {
      const Tensor from = ones({100, 4}, DType::f32);
      if (op == std::string("gather")) gather(target, 0, here);
      if (op == std::string("scatter")) scatter(target, 0, here, from);
      if (op == std::string("scatter_add")) scatter_add(target, 0, here, from);
      if (op == std::string("scatter_reduce")) scatter_reduced(target, 0, here, from, 1);
    }));
}

uint64_t sorting_dispatches() {
  uint64_t count = 0;
  for (const KernelUse& use : dynamic_cast<WorkTimes&>(gpu()).kernels())
    if (use.name.find("radix") != std::string::npos) count += use.dispatches;
  return count;
}

TEST_CASE("an index is sorted once while it is unchanged, and again after every kind of write") {
  const NoGrad off;
  const int64_t n = 300000;  // more than 1 MiB: copies may take the upload queue
  const Tensor index = drawn_indices({n}, 50, 1), source = floor(random({n, 2}, 2, 0, 9));
  const Tensor x = zeros({50, 2}, DType::f32), there = to(index, gpu()), from = to(source, gpu()),
               target = zeros({50, 2}, DType::f32, gpu());
  // Whether the sums were right, and whether the index was sorted.
  const auto add = [&](const Tensor& at, const Tensor& expected_index) {
    const uint64_t before = sorting_dispatches();
    const Tensor sums = index_add(target, 0, at, from);
    CHECK(distance(sums, index_add(x, 0, expected_index, source)) == 0);
    return sorting_dispatches() > before;
  };
  CHECK(add(there, index));
  CHECK_FALSE(add(there, index));
  CHECK_FALSE(add(reshape(there, {n}), index));
  // The same keys serve other ops and other columns.
  const uint64_t before = sorting_dispatches();
  const Tensor wide = expand(unsqueeze(there, 1), {n, 2});
  CHECK(distance(scatter_reduced(target, 0, wide, from, 1),
                 scatter_reduced(x, 0, expand(unsqueeze(index, 1), {n, 2}), source, 1)) == 0);
  CHECK(sorting_dispatches() == before);

  const Tensor other = drawn_indices({n}, 50, 3);
  copy_(there, to(other, gpu()));  // a copy on the device
  CHECK(add(there, other));
  CHECK_FALSE(add(there, other));
  fill_(narrow(there, 0, 7, 1000), int64_t(4));  // a part
  Tensor part = clone(other);
  fill_(narrow(part, 0, 7, 1000), int64_t(4));
  CHECK(add(there, part));
  CHECK_FALSE(add(there, part));
  gpu().sync();
  gpu().copy_in(there.storage().data(), 0, index.data<int64_t>(), size_t(n) * 8);  // an upload
  CHECK(add(there, index));
  CHECK_FALSE(add(there, index));
  gpu().copy_in(there.storage().data(), 16, other.data<int64_t>() + 2, 800);  // a small copy
  Tensor begins = clone(index);
  copy_(narrow(begins, 0, 2, 100), narrow(other, 0, 2, 100));
  CHECK(add(there, begins));
  // Another view of the same memory, and the same view with another limit.
  const Tensor half = narrow(there, 0, 1000, n / 2), half_from = narrow(from, 0, 0, n / 2);
  CHECK(distance(index_add(target, 0, half, half_from),
                 index_add(x, 0, narrow(begins, 0, 1000, n / 2), narrow(source, 0, 0, n / 2))) == 0);
  CHECK(distance(index_add(zeros({60, 2}, DType::f32, gpu()), 0, there, from),
                 index_add(zeros({60, 2}, DType::f32), 0, begins, source)) == 0);
}

TEST_CASE("the memory of a sorted index is freed with the index, and with unused memory") {
  const NoGrad off;
  const int64_t n = 100000;
  const Tensor source = ones({n, 2}, DType::f32, gpu()), target = zeros({50, 2}, DType::f32, gpu());
  gpu().release_unused();
  const size_t before = gpu().memory().in_use;
  {
    const Tensor index = to(drawn_indices({n}, 50, 1), gpu());
    index_add(target, 0, index, source);
    CHECK(gpu().memory().in_use >= before + size_t(n) * 16);
    gpu().release_unused();
    CHECK(gpu().memory().in_use <= before + size_t(n) * 8 + 4096);
    index_add(target, 0, index, source);
  }
  CHECK(gpu().memory().in_use == before);
  // A new index in the same memory is sorted.
  for (const uint64_t stream : {4, 5, 6}) {
    const Tensor index = drawn_indices({n}, 50, stream), there = to(index, gpu());
    CHECK(distance(index_add(target, 0, there, source),
                   index_add(zeros({50, 2}, DType::f32), 0, index, ones({n, 2}, DType::f32))) == 0);
  }
  // More indices than are kept.
  TensorList many;
  for (int i = 0; i < 12; ++i) many.push_back(to(drawn_indices({1000}, 50, uint64_t(10 + i)), gpu()));
  const Tensor few = ones({1000, 2}, DType::f32, gpu());
  for (int round = 0; round < 2; ++round)
    for (const Tensor& index : many)
      CHECK(distance(index_add(target, 0, index, few),
                     index_add(zeros({50, 2}, DType::f32), 0, to(index, cpu_device()),
                               ones({1000, 2}, DType::f32))) == 0);
}

TEST_CASE(
    "an index that changes keeps the memory of one sorted index, and all indices the memory of 2^24 keys") {
  const NoGrad off;
  const int64_t n = 5000;
  const Tensor source = ones({n, 2}, DType::f32, gpu()), target = zeros({50, 2}, DType::f32, gpu());
  gpu().release_unused();
  const Tensor index = to(drawn_indices({n}, 50, 1), gpu());
  const size_t before = gpu().memory().in_use;
  for (int round = 0; round < 4; ++round) {
    copy_(index, to(drawn_indices({n}, 50, uint64_t(2 + round)), gpu()));
    index_add(target, 0, index, source);
    CHECK(gpu().memory().in_use <= before + size_t(n) * 8 + 4096);
  }
  gpu().release_unused();
  const int64_t many = int64_t(7) << 20;
  const Tensor ones_of = ones({many}, DType::u8, gpu()), line = zeros({50}, DType::u8, gpu());
  TensorList indices;
  for (int i = 0; i < 3; ++i) {
    indices.push_back(zeros({many}, DType::u8, gpu()));
    const size_t bare = gpu().memory().in_use;
    index_add(line, 0, indices.back(), ones_of);
    const double kept =
        double(gpu().memory().in_use) - double(bare);  // the third takes the place of another one
    CHECK(kept <= double(many) * (i < 2 ? 9 : 1));
    if (i < 2) CHECK(kept >= double(many) * 8);
  }
}

TEST_CASE("lengths on a device and data on the CPU are checked, too") {
  const Op& op = *find_op("segment_reduce");
  const auto reduced = [&](const std::vector<int64_t>& counts) {
    return apply1(op, {ones({5}, DType::f32), Tensor::from<int64_t>(counts, {int64_t(counts.size())}, gpu())},
                  {0, 0, {}})
        .to_vector<float>();
  };
  CHECK(reduced({4, 1}) == std::vector<float>{4, 1});
  CHECK(error_of([&] { reduced({1, 1}); }) == "segment_reduce: the lengths add up to 2 where dim 1 has 5");
  CHECK(error_of([&] { reduced({7, -2}); }) == "segment_reduce: a length must not be negative (got -2)");
}

TEST_CASE("a faulty index that is used again is an error again") {
  const NoGrad off;
  std::vector<int64_t> ids(3000, 5);
  ids[7] = 50;
  const Tensor index = Tensor::from<int64_t>(ids, {3000}, gpu()), source = ones({3000, 2}, DType::f32, gpu()),
               target = zeros({50, 2}, DType::f32, gpu());
  for (int round = 0; round < 3; ++round) {
    CAPTURE(round);
    const Tensor sums = index_add(target, 0, index, source);
    CHECK(error_of([&] {
            sums.to_vector<float>();
          }).find("index_add: index 50 at position 8 is out of range") == 0);
    CHECK_FALSE(error_of([&] { sums.to_vector<float>(); }).empty());
  }
  // Both calls before the first error is found.
  const Tensor first = index_add(target, 0, index, source), second = index_add(target, 0, index, source);
  CHECK_FALSE(error_of([&] { second.to_vector<float>(); }).empty());
  CHECK_FALSE(error_of([&] { second.to_vector<float>(); }).empty());
  CHECK_FALSE(error_of([&] { first.to_vector<float>(); }).empty());
}

TEST_CASE("index tensors that name rows together are combined and checked on the device") {
  const NoGrad off;
  const Fallbacks fallbacks;
  const auto& device = static_cast<const gpu::VulkanDevice&>(gpu());
  const Tensor x = random({7, 5, 3}, 1);
  const Tensor i = to(floor(random({4, 1}, 2, -7, 6.99)), DType::i64),
               j = to(floor(random({6}, 3, -5, 4.99)), DType::i32), k = drawn_indices({6}, 3, 4, DType::u8);
  const Tensor put = random({4, 6, 3}, 5), single = random({4, 6}, 6);
  const auto all = [&](auto&& place) {
    Operands results;
    const Tensor a = place(x), b = place(i), c = place(j), d = place(k);
    results.push_back(apply1(*find_op("index"), {a, b, c}));
    results.push_back(apply1(*find_op("index"), {a, b, c, d}));
    results.push_back(apply1(*find_op("index"), {a, transpose(b, 0, 1)}));
    results.push_back(apply1(*find_op("index_put"), {a, place(put), b, c}, {false}));
    results.push_back(apply1(*find_op("index_put"), {a, place(put), b, c}, {true}));
    results.push_back(apply1(*find_op("index_put"), {a, place(single), b, c, d}, {true}));
    return results;
  };
  const Operands here = all([](const Tensor& t) { return t; });
  const uint64_t copies = device.copies_out();
  const Operands there = all([](const Tensor& t) { return to(t, gpu()); });
  CHECK(device.copies_out() == copies);
  for (size_t n = 0; n < here.size(); ++n) CHECK(distance(there[n], here[n]) < 1e-6);
  require_none(fallbacks);
  const Tensor wrong = Tensor::from<int64_t>(std::vector<int64_t>{0, 5, 1}, {3});
  for (const auto& place :
       {std::function<Tensor(const Tensor&)>([](const Tensor& t) { return t; }),
        std::function<Tensor(const Tensor&)>([](const Tensor& t) { return to(t, gpu()); })}) {
    CHECK(error_of([&] {
            apply1(*find_op("index"), {place(x), place(wrong), place(wrong)}).to_vector<float>();
          }).find("index: index 5 is out of range for dim 2 of size 5 (indices count from 0)") == 0);
    CHECK(error_of([&] {
            apply1(*find_op("index_put"),
                   {place(x), Tensor::number(1.0), place(wrong - Tensor::number(int64_t(8)))}, {false})
                .to_vector<float>();
          }).find("index_put: index -8 is out of range for dim 1 of size 7 (indices count from 0)") == 0);
    CHECK(error_of([&] {
            apply1(*find_op("index"), {place(zeros({0, 2}, DType::f32)), place(wrong)}).to_vector<float>();
          }).find("index: index 5 is out of range for dim 1 of size 0 (indices count from 0)") == 0);
  }
}

TEST_CASE("segments have keys at once, and few passes") {
  const NoGrad off;
  const auto dispatches = [](const char* name) {
    uint64_t count = 0;
    for (const KernelUse& use : dynamic_cast<WorkTimes&>(gpu()).kernels())
      if (use.name.find(name) != std::string::npos) count += use.dispatches;
    return count;
  };
  constexpr int64_t kSegments = 9000;
  const Tensor data = round(random({4 * kSegments, 4}, 41, -9, 9)),
               lengths = full({kSegments}, 4, DType::i64);
  const Tensor there = to(data, gpu()), parts = to(lengths, gpu());
  for (const int64_t reduce : {0, 1, 2}) {
    const uint64_t keys = dispatches("index_keys"), segments = dispatches("segments");
    const Tensor got = apply1(*find_op("segment_reduce"), {there, parts}, {reduce, 0, {}});
    CHECK(words(got) == words(apply1(*find_op("segment_reduce"), {data, lengths}, {reduce, 0, {}})));
    CHECK(dispatches("index_keys") == keys);
    CHECK(dispatches("segments") - segments == 2);
  }
}

TEST_CASE("segments are numbered and checked on the device") {
  const Fallbacks fallbacks;
  const auto& device = static_cast<const gpu::VulkanDevice&>(gpu());
  const Op& op = *find_op("segment_reduce");
  const auto lengths_of = [](const std::vector<int64_t>& counts) {
    return Tensor::from<int64_t>(counts, {int64_t(counts.size())});
  };
  for (const std::vector<int64_t>& counts :
       {std::vector<int64_t>{3, 0, 4, 300, 0, 1}, {0, 0, 308}, {308}, std::vector<int64_t>(308, 1)})
    for (const int64_t reduce : {0, 1, 2, 3, 4})
      for (const int axis : {0, 1}) {
        const Tensor data = random(axis == 0 ? Shape{308, 3} : Shape{2, 308}, 1, 0.9, 1.1),
                     lengths = lengths_of(counts);
        const auto run = [&](const Tensor& x, const Tensor& parts) {
          Tensor leaf = x.detach().requires_grad_();
          const Tensor y = apply1(op, {leaf, parts}, {reduce, axis, 0.5});
          backward(y, ones_like(y));
          return std::pair(y.detach(), leaf.grad());
        };
        const auto here = run(data, lengths);
        const Tensor x = to(data, gpu()), parts = to(lengths, gpu());
        const uint64_t copies = device.copies_out();
        const auto there = run(x, parts);
        CHECK(device.copies_out() == copies);
        CHECK(distance(there.first, here.first) < 1e-4);
        CHECK(distance(there.second, here.second) < 1e-4);
      }
  const NoGrad off;
  for (const DType type : {DType::u8, DType::i32, DType::i64}) {
    const Tensor line = random({6, 2}, 2), times = to(lengths_of({3, 0, 1, 2, 0, 7}), type);
    CHECK(distance(apply1(*find_op("repeat_interleave"), {to(line, gpu()), to(times, gpu())}, {0}),
                   apply1(*find_op("repeat_interleave"), {line, times}, {0})) == 0);
  }
  require_none(fallbacks);
  const Tensor data = ones({5}, DType::f32, gpu());
  const auto told = [&](const std::vector<int64_t>& counts) {
    return error_of([&] {
      apply1(op, {data, to(lengths_of(counts), gpu())}, {0, 0, {}}).to_vector<float>();
    });
  };
  CHECK(told({2, 2}).find("segment_reduce: the lengths add up to 4 where dim 1 has 5") == 0);
  CHECK(told({2, 9}).find("segment_reduce: the lengths add up to 11 where dim 1 has 5") == 0);
  CHECK(told({7, -2}).find("segment_reduce: a length must not be negative") == 0);
  CHECK(told({}).find("segment_reduce: the lengths add up to 0") == 0);
}

}  // namespace
}  // namespace lunagrad::tests

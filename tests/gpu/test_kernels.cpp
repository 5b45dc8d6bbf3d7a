// Products, reductions, rows, indices and random numbers on the Vulkan device, of sizes that do not divide
// into tiles.
#include "tests/gpu/compare.h"

namespace lunagrad::tests {
namespace {

TEST_CASE("matrix products of odd sizes, transposes and batches") {
  const NoGrad off;
  for (const Factors& c : all_factors()) {
    const Tensor a = random(c.a, 1), b = random(c.b, 2);
    const Tensor exact = matmul(to(a, DType::f64), to(b, DType::f64));
    // Errors are relative to the product of the absolute values.
    const Tensor size = matmul(abs(to(a, DType::f64)), abs(to(b, DType::f64))) + 1e-30;
    for (const Arrangement left : {Arrangement::contiguous, Arrangement::transposed, Arrangement::sliced})
      for (const Arrangement right : {Arrangement::contiguous, Arrangement::transposed})
        CHECK_MESSAGE(
            largest(
                abs(to(to(matmul(arrange(a, left), arrange(b, right)), cpu_device()), DType::f64) - exact) /
                size) < 1e-6,
            "matmul of " << text(c.a, " and ", c.b) << ", layouts " << int(left) << " " << int(right));
  }
  const Tensor x = random({3, 7, 40}, 3), w = random({33, 40}, 4), bias = random({33}, 5);
  const Tensor exact = linear(to(x, DType::f64), to(w, DType::f64), to(bias, DType::f64));
  CHECK(distance(linear(to(x, gpu()), to(w, gpu()), to(bias, gpu())), exact) < 2e-6);
  CHECK(distance(
            linear(arrange(x, Arrangement::transposed), arrange(w, Arrangement::transposed), to(bias, gpu())),
            exact) < 2e-6);
}

TEST_CASE("reductions over any dims, short and long") {
  const NoGrad off;
  for (const Shape& shape :
       {Shape{3, 4, 5}, Shape{1, 700, 3}, Shape{300, 70}, Shape{2, 100000}, Shape{100000, 2}, Shape{0, 3}}) {
    const Tensor x = random(shape, 1);
    const Tensor wide = to(x, DType::f64);
    for (uint32_t mask = 0; mask < 1u << shape.size(); ++mask) {
      Dims dims;
      for (int d = 0; d < shape.size(); ++d)
        if (mask >> d & 1) dims.push_back(d);
      for (const Arrangement arrangement :
           {Arrangement::contiguous, Arrangement::transposed, Arrangement::sliced}) {
        const Tensor there = arrange(x, arrangement);
        const std::string what = text("of ", shape, " over ", dims, ", layout ", int(arrangement));
        const double scale = std::max(1.0, std::sqrt(double(x.numel())));
        const auto close = [&](const Tensor& got, const Tensor& exact) {
          const std::vector<double> g = got.to_vector<double>(), e = exact.to_vector<double>();
          double worst = 0;
          for (size_t i = 0; i < g.size(); ++i)
            if (!(std::isnan(g[i]) && std::isnan(e[i]))) worst = std::max(worst, std::abs(g[i] - e[i]));
          return worst;
        };
        CHECK_MESSAGE(close(sum(there, dims), sum(wide, dims)) < 1e-5 * scale, "sum " << what);
        CHECK_MESSAGE(close(mean(there, dims), mean(wide, dims)) < 1e-5, "mean " << what);
        if (x.numel() == 0) continue;
        CHECK_MESSAGE(close(amax(there, dims), amax(wide, dims)) == 0, "amax " << what);
        CHECK_MESSAGE(close(amin(there, dims), amin(wide, dims)) == 0, "amin " << what);
      }
    }
  }
  const Tensor flags = gt(random({1000}, 3), Tensor::number(0.0));
  CHECK(sum(to(flags, gpu())).item_integer() == sum(flags).item_integer());
  const std::vector<float> with_nan = {1, NAN, 3};
  CHECK(std::isnan(amax(Tensor::from<float>(with_nan, {3}, gpu())).item()));
  CHECK(std::isnan(amin(Tensor::from<float>(with_nan, {3}, gpu())).item()));
}

TEST_CASE("softmax of rows of any length and of large numbers") {
  const NoGrad off;
  for (const int64_t n : {1, 2, 10, 32, 63, 1000, 1023, 1024, 1025, 5000, 8191, 8192, 8196}) {
    const Tensor x = random({7, n}, 1, -80, 80);
    for (const int dim : {0, 1}) {
      const Tensor wide = to(x, DType::f64);
      for (const Arrangement arrangement : {Arrangement::contiguous, Arrangement::transposed}) {
        CHECK(distance(softmax(arrange(x, arrangement), dim), softmax(wide, dim)) < 2e-6);
        CHECK(distance(log_softmax(arrange(x, arrangement), dim), log_softmax(wide, dim)) < 2e-6);
      }
    }
  }
  // Rows with a NaN or +inf, and rows of -inf only, are all NaN; other rows are not.
  for (const int64_t n : {12, 63, 64, 512, 1024, 4096}) {
    Tensor x = random({6, n}, 2);
    float* const numbers = x.data<float>();
    numbers[n / 2] = NAN;
    numbers[2 * n - 1] = INFINITY;
    std::fill(numbers + 2 * n, numbers + 3 * n, -INFINITY);
    numbers[3 * n] = -INFINITY;
    const Tensor wide = to(x, DType::f64), there = to(x, gpu());
    CHECK(distance(softmax(there, 1), softmax(wide, 1)) < 2e-6);
    CHECK(distance(log_softmax(there, 1), log_softmax(wide, 1)) < 2e-6);
  }
  const std::vector<float> far = {1e30f, 1e30f, -1e30f, -INFINITY};
  const std::vector<float> result = softmax(Tensor::from<float>(far, {4}, gpu()), 0).to_vector<float>();
  CHECK(result == std::vector<float>{0.5f, 0.5f, 0, 0});
}

TEST_CASE("random numbers and dropout masks equal the CPU's, bit for bit") {
  for (const int64_t count : {1, 6, 1023, 5000}) {
    Tensor drawn[2], dropped[2], whole[2], tossed[2], normal[2];
    Device* const devices[] = {&cpu_device(), &gpu()};
    for (int i = 0; i < 2; ++i) {
      context().generator.seed(uint64_t(0x123456789abcdef0));
      drawn[i] = rand({count}, DType::f32, *devices[i]);
      const Tensor x = to(random({count}, 5), *devices[i]).detach().requires_grad_();
      dropped[i] = dropout(x, 0.3, true);
      backward(sum(dropped[i]));
      dropped[i] = x.grad();
      whole[i] = randint(-5, 1000, {count}, DType::i64, *devices[i]);
      tossed[i] = bernoulli(rand({count}, DType::f32, *devices[i]));
      normal[i] = randn({count}, DType::f32, *devices[i]);
    }
    CHECK(whole[0].to_vector<int64_t>() == whole[1].to_vector<int64_t>());
    CHECK(tossed[0].to_vector<float>() == tossed[1].to_vector<float>());
    CHECK(distance(normal[1], normal[0]) < 1e-6);
    CHECK(drawn[0].to_vector<float>() == drawn[1].to_vector<float>());
    CHECK(dropped[0].to_vector<float>() == dropped[1].to_vector<float>());
  }
}

TEST_CASE("selection by index, argmax and argmin") {
  const NoGrad off;
  const Fallbacks fallbacks;
  const Tensor x = random({40, 30, 3}, 1);
  const std::vector<int64_t> picks = {5, 0, 5, 29, 17};
  const Tensor index = Tensor::from<int64_t>(picks, {5});
  CHECK(distance(index_select(to(x, gpu()), 1, to(index, gpu())), index_select(x, 1, index)) == 0);
  CHECK(distance(index_select(arrange(x, Arrangement::transposed), 0, to(index, gpu())),
                 index_select(x, 0, index)) == 0);
  CHECK(distance(embedding(to(index, gpu()), to(flatten(x, 1), gpu())), embedding(index, flatten(x, 1))) ==
        0);
  for (const int dim : {0, 1, 2}) {
    CHECK(distance(argmax(to(x, gpu()), dim, false), argmax(x, dim, false)) == 0);
    CHECK(distance(argmin(arrange(x, Arrangement::transposed), dim, true), argmin(x, dim, true)) == 0);
    CHECK(distance(max(to(x, gpu()), dim, false).first, max(x, dim, false).first) == 0);
    CHECK(distance(min(to(x, gpu()), dim, false).second, min(x, dim, false).second) == 0);
  }
  CHECK(argmax(to(x, gpu()), std::nullopt, false).item_integer() ==
        argmax(x, std::nullopt, false).item_integer());
  const std::vector<float> ties = {2, 7, NAN, 7, NAN};
  CHECK(argmax(Tensor::from<float>(ties, {5}, gpu()), 0, false).item_integer() == 2);
  CHECK(fallbacks.ops.empty());
  const std::vector<int64_t> wrong = {0, 40};
  const Tensor bad = index_select(to(x, gpu()), 0, Tensor::from<int64_t>(wrong, {2}, gpu()));
  CHECK_THROWS_WITH_AS(bad.to_vector<float>(), doctest::Contains("index 40 at position 2 is out of range"),
                       Error);
}

TEST_CASE("norms of short and long rows, with weights and their gradients") {
  for (const auto& [rows, size] : {std::pair<int64_t, int64_t>{4, 3},
                                   {7, 6},
                                   {700, 12},
                                   {333, 64},
                                   {300, 65},
                                   {40, 1023},
                                   {70, 1024},
                                   {1, 1025},
                                   {70, 2052},
                                   {5, 5000},
                                   {3, 8192}}) {
    for (const bool centred : {true, false}) {
      TensorList results[2];
      for (const bool there : {false, true}) {
        const auto leaf = [&](const Shape& shape, uint64_t stream, double low) {
          const Tensor x = random(shape, stream, low);
          return (there ? to(x, gpu()) : to(x, DType::f64)).detach().requires_grad_();
        };
        const Tensor x = leaf({rows, size}, 1, -1), w = leaf({size}, 2, 0.5), b = leaf({size}, 3, -2);
        const Tensor y = centred ? layer_norm(x, {size}, w, b, 1e-5) : rms_norm(x, {size}, w, 1e-5);
        const Tensor weights = random(y.shape(), 4);
        backward(sum(y * (there ? to(weights, gpu()) : to(weights, DType::f64))));
        results[there] = {y, x.grad(), w.grad()};
        if (centred) results[there].push_back(b.grad());
      }
      for (size_t i = 0; i < results[0].size(); ++i)
        CHECK_MESSAGE(distance(results[1][i], results[0][i]) < 2e-5, text(rows, " rows of ", size, ": ", i));
    }
  }
}

TEST_CASE("rows of 16 bits are normalised without casts, and results rounded once") {
  for (const DType type : {DType::f16, DType::bf16})
    for (const int64_t size : {6, 64, 65, 1024, 1028, 5000, 8192}) {
      const auto leaf = [&](const Shape& shape, uint64_t stream) {
        return to(to(random(shape, stream), gpu()), type).requires_grad_();
      };
      const Tensor x = leaf({5, size}, 1), w = leaf({size}, 2), b = leaf({size}, 3),
                   g = leaf({5, size}, 4).detach();
      const Tensor exact_g = to(to(g, cpu_device()), DType::f64);
      const auto check = [&](const char* name, const auto& f) {
        TensorList leaves, there, results;
        for (const Tensor& leaf : {x, w, b}) {
          leaves.push_back(leaf.detach().requires_grad_());
          there.push_back(to(to(leaf.detach(), cpu_device()), DType::f64).requires_grad_());
        }
        {
          const Fallbacks trace;
          const Tensor y = f(leaves);
          backward(y, g);
          CHECK_MESSAGE(trace.casts == 0, name << " of " << type);
          CHECK_MESSAGE(trace.ops.empty(), name << " of " << type);
          results.push_back(y);
        }
        const Tensor exact = f(there);
        backward(exact, exact_g);
        const double rounding = type == DType::f16 ? 0x1p-10 : 0x1p-7;  // relative to the largest number
        CHECK_MESSAGE(distance(results[0], exact) < rounding, name << " of " << size << " " << type);
        for (size_t i = 0; i < leaves.size(); ++i)
          if (leaves[i].grad().defined())
            CHECK_MESSAGE(distance(leaves[i].grad(), there[i].grad()) < rounding,
                          name << " of " << size << " " << type << ": gradient " << i);
      };
      check("layer_norm",
            [&](const TensorList& in) { return layer_norm(in[0], {size}, in[1], in[2], 1e-5); });
      check("rms_norm", [&](const TensorList& in) { return rms_norm(in[0], {size}, in[1], 1e-5); });
      check("softmax", [](const TensorList& in) { return softmax(in[0], 1); });
      check("log_softmax", [](const TensorList& in) { return log_softmax(in[0], 1); });
    }
}

TEST_CASE("layer_norm and group_norm of equal numbers are 0 on the device, whatever their sum rounds to") {
  const NoGrad off;
  for (const int64_t size : {3, 64, 65, 77, 1000, 1028, 5001})
    for (const double value : {-1.94871736, 1234.567, 1e-3}) {
      const Tensor x = full({5, size}, value, DType::f32, gpu());
      CHECK_MESSAGE(largest(abs(layer_norm(x, {size}, {}, {}, 1e-12))) == 0, value << " in rows of " << size);
      CHECK_MESSAGE(largest(abs(group_norm(reshape(x, {1, 5, size}), 1, {}, {}, 1e-12))) == 0,
                    value << " in groups of " << size);
    }
}

TEST_CASE("sorting is stable, with NaN last and zeros equal; cumsum of long rows") {
  const NoGrad off;
  const Fallbacks fallbacks;
  for (const int64_t n : {1, 2, 63, 2048}) {
    Tensor x = floor(random({3, n}, 1, -20, 20));  // with many equal ones
    if (n > 60) {
      x.data<float>()[5] = NAN;
      x.data<float>()[9] = -0.0f;
      x.data<float>()[50] = -INFINITY;
    }
    for (const bool descending : {false, true}) {
      const auto expected = sort(x, 1, descending),
                 got = sort(arrange(x, Arrangement::transposed), 1, descending);
      CHECK(distance(got.first, expected.first) == 0);
      CHECK(got.second.to_vector<int64_t>() == expected.second.to_vector<int64_t>());
      const auto best = topk(x, (n + 1) / 2, 1, descending),
                 there = topk(to(x, gpu()), (n + 1) / 2, 1, descending);
      CHECK(there.second.to_vector<int64_t>() == best.second.to_vector<int64_t>());
    }
  }
  const Tensor x = random({3, 5000}, 2), whole = to(floor(x), DType::i64);
  CHECK(distance(cumsum(to(x, gpu()), 1), cumsum(to(x, DType::f64), 1)) < 1e-5);
  CHECK(distance(cumsum(to(x, gpu()), 0), cumsum(to(x, DType::f64), 0)) < 1e-6);
  CHECK(cumsum(to(whole, gpu()), 1).to_vector<int64_t>() == cumsum(whole, 1).to_vector<int64_t>());
  CHECK(fallbacks.ops.empty());
}

TEST_CASE("equal indices add all elements, or write the last one") {
  const NoGrad off;
  const Fallbacks fallbacks;
  const Tensor index = to(floor(random({700}, 1, 0, 9.99)), DType::i64), source = random({700, 300}, 2);
  const Tensor x = random({10, 300}, 3), there = to(x, gpu());
  CHECK(distance(index_add(there, 0, to(index, gpu()), to(source, gpu())),
                 index_add(to(x, DType::f64), 0, index, to(source, DType::f64))) < 1e-6);
  CHECK(distance(index_copy(there, 0, to(index, gpu()), to(source, gpu())),
                 index_copy(x, 0, index, source)) == 0);
  const Tensor places = to(floor(random({10, 40}, 4, 0, 299.99)), DType::i64);
  const Tensor parts = arrange(source, Arrangement::sliced);
  CHECK(distance(scatter(there, 1, to(places, gpu()), parts), scatter(x, 1, places, source)) == 0);
  CHECK(distance(scatter_add(there, 1, to(places, gpu()), parts), scatter_add(x, 1, places, source)) < 1e-6);
  CHECK(distance(gather(there, 1, to(places, gpu())), gather(x, 1, places)) == 0);
  CHECK(fallbacks.ops.empty());
  const std::vector<int64_t> wrong = {3, -1};
  const Tensor bad =
      index_add(there, 0, Tensor::from<int64_t>(wrong, {2}, gpu()), to(random({2, 300}, 5), gpu()));
  CHECK_THROWS_WITH_AS(
      bad.to_vector<float>(),
      doctest::Contains("index_add: index -1 at position 2 is out of range for a dim of size 10"), Error);
}

TEST_CASE("arange and linspace are rounded as from double precision") {
  const NoGrad off;
  Device& device = gpu();
  CHECK(distance(arange(0.1, 5000.1, 0.1, DType::f32, device), arange(0.1, 5000.1, 0.1, DType::f32)) == 0);
  CHECK(arange(7, -20, -3, DType::i64, device).to_vector<int64_t>() ==
        arange(7, -20, -3, DType::i64).to_vector<int64_t>());
}

}  // namespace
}  // namespace lunagrad::tests

// Distances and cosines of rows against norms of differences and products of unit vectors, and the memory
// that they take.
#include <doctest/doctest.h>

#include "runtime/cpu/parallel.h"
#include "tests/runtime/values.h"
#include "tests/support/row_measures.h"

namespace lunagrad::tests {
namespace {

double largest_error(const Tensor& got, const Tensor& wanted) {
  REQUIRE(got.shape() == wanted.shape());
  if (got.numel() == 0) return 0;
  const Tensor exact = to(wanted, DType::f64);
  return amax(abs(to(got, DType::f64) - exact)).item() / std::max(1.0, amax(abs(exact)).item());
}

// The same from all differences and products.
Tensor norms(const Tensor& x1, const Tensor& x2, double p, double eps, bool keepdim) {
  return norm(x1 - x2 + eps, p, {-1}, keepdim);
}
Tensor cosines(const Tensor& x1, const Tensor& x2, int dim, double eps) {
  const Shape shape = broadcast_shapes("cosines", x1.shape(), x2.shape());
  const auto direction = [&](const Tensor& x) {
    return x / maximum(norm(x, 2, {dim}, true), full({}, eps, x.dtype()));
  };
  return sum(direction(expand(x1, shape)) * direction(expand(x2, shape)), {dim});
}
std::vector<RowMeasure> plain_measures() {
  std::vector<RowMeasure> measures;
  for (const double p : {0.0, 0.5, 1.0, 1.5, 2.0, 3.0, double(INFINITY)})
    measures.push_back({"", [p](const Tensor& a, const Tensor& b) { return norms(a, b, p, 1e-3, p == 3); }});
  for (const int dim : {-1, -2})
    measures.push_back({"", [dim](const Tensor& a, const Tensor& b) { return cosines(a, b, dim, 0.5); }});
  return measures;
}

struct Orders {
  Tensor value;
  TensorList first, second;
};
Orders orders_of(const RowMeasure& measure, const Tensor& x1, const Tensor& x2, bool create_graph) {
  const TensorList leaves = {x1.detach().requires_grad_(), x2.detach().requires_grad_()};
  Orders found;
  const Tensor y = measure.of(leaves[0], leaves[1]);
  found.value = y.detach();
  const Tensor steps = remainder(arange(0, double(y.numel()), 1, DType::f64), Tensor::number(7.0)) - 2.5;
  GradOptions options;
  options.create_graph = create_graph;
  found.first = grad({y}, leaves, {to(reshape(steps, y.shape()), y.dtype())}, options);
  if (!create_graph) return found;
  Tensor total = zeros({}, y.dtype());
  for (const Tensor& g : found.first) total = total + sum(square(g) + g);
  if (total.requires_grad()) found.second = grad({total}, leaves, {}, {{}, true});
  return found;
}
// In another order in memory.
Tensor turned(const Tensor& x) { return transpose(contiguous(transpose(x, -1, -2)), -1, -2); }

TEST_CASE("distances and cosines of rows and their derivatives equal norms and products") {
  context().generator.seed(12);
  const auto measures = row_measures(), plain = plain_measures();
  for (const RowShapes& shapes : row_shapes())
    for (size_t i = 0; i < measures.size(); ++i) {
      INFO(measures[i].name, ", ", shapes.x1, " and ", shapes.x2);
      const Tensor x1 = randn(shapes.x1, DType::f64), x2 = randn(shapes.x2, DType::f64);
      const Orders wanted = orders_of(plain[i], x1, x2, true);
      for (const bool create_graph : {false, true}) {
        const Orders got = orders_of(measures[i], create_graph ? x1 : turned(x1), x2, create_graph);
        CHECK(largest_error(got.value, wanted.value) < 1e-12);
        for (size_t k = 0; k < 2; ++k) CHECK(largest_error(got.first[k], wanted.first[k]) < 1e-11);
        for (size_t k = 0; k < got.second.size(); ++k)
          if (got.second[k].defined() && wanted.second[k].defined())
            CHECK(largest_error(got.second[k], wanted.second[k]) < 1e-9);
      }
      for (const DType type : {DType::f32, DType::f16, DType::bf16}) {
        const Tensor a = to(x1, type), b = to(x2, type);
        const Orders exact = orders_of(plain[i], to(a, DType::f64), to(b, DType::f64), false);
        const Orders got = orders_of(measures[i], a, b, false), again = orders_of(measures[i], a, b, false);
        const double tolerance = type == DType::f32 ? 1e-5 : type == DType::f16 ? 2e-3 : 2e-2;
        CHECK(got.value.dtype() == type);
        CHECK(largest_error(got.value, exact.value) < tolerance);
        for (size_t k = 0; k < 2; ++k) {
          CHECK(largest_error(got.first[k], exact.first[k]) < tolerance);
          CHECK(values(got.first[k]) == values(again.first[k]));
        }
      }
    }
}

TEST_CASE("the gradients of measures of rows have the same bits for any number of threads") {
  context().generator.seed(13);
  const int threads = thread_count();
  for (const RowShapes& shapes : row_shapes())
    for (const RowMeasure& measure : row_measures()) {
      const Tensor x1 = randn(shapes.x1), x2 = randn(shapes.x2);
      std::vector<List> found;
      for (const int count : {1, 2}) {
        set_thread_count(count);
        const Orders got = orders_of(measure, x1, x2, false);
        found.push_back(values(cat({reshape(got.first[0], {-1}), reshape(got.first[1], {-1})})));
      }
      set_thread_count(threads);
      CHECK_MESSAGE(found[0] == found[1], measure.name << ", " << shapes.x1 << " and " << shapes.x2);
    }
}

TEST_CASE("an operand that repeats along no rows has the gradient 0") {
  const Tensor x = ones({1, 3}).requires_grad_();
  backward(sum(pairwise_distance(x, zeros({0, 3}), 2, 0)));
  CHECK(values(x.grad()) == List(3, 0));
}

TEST_CASE("equal rows have the distance that eps gives them") {
  const Tensor x = full({1, 4}, 1000.0).requires_grad_();
  const Tensor y = pairwise_distance(x, full({1, 4}, 1000.0), 2, 1e-6);
  CHECK(y.item() == doctest::Approx(2e-6));
  backward(y, ones({1}));
  CHECK(values(x.grad())[0] == doctest::Approx(0.5));
}

TEST_CASE("measures of rows take memory for operands and results alone") {
  for (const RowShapes& shapes : large_row_shapes())
    for (const RowMeasure& measure : row_measures(false))
      for (const DType type : {DType::f32, DType::bf16}) {
        const Tensor a = to(randn(shapes.x1), type).detach().requires_grad_(),
                     b = to(randn(shapes.x2), type).detach().requires_grad_();
        // The products of 16-bit directions are f32 until they are rounded.
        const bool product = measure.name.find("cosine") == 0;
        const double most = product && type == DType::bf16 && shapes.x1[1] == 1 ? 3.5 : 1.5;
        const double ratio = peak_of_measure(measure, a, b);
        CHECK_MESSAGE(ratio < most, measure.name << ", " << ratio << ", " << shapes.x1 << " and " << shapes.x2
                                                 << ", " << type);
      }
}

}  // namespace
}  // namespace lunagrad::tests

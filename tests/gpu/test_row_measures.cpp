// Distances and cosines of rows on the Vulkan device against the CPU in double precision: any strides,
// operands that repeat, ties, rows whose squares leave the range, and the memory that they take.
#include "tests/gpu/compare.h"
#include "tests/gpu/matrices.h"
#include "tests/support/row_measures.h"

namespace lunagrad::tests {
namespace {

TensorList measured(const RowMeasure& measure, const Tensor& x1, const Tensor& x2) {
  const Tensor a = x1.detach().requires_grad_(), b = x2.detach().requires_grad_();
  const Tensor y = measure.of(a, b);
  Tensor seed = remainder(arange(0, double(y.numel()), 1, DType::i64), Tensor::number(int64_t(5)));
  backward(y, to(to(reshape(to(seed, DType::f64) - 1.5, y.shape()), y.dtype()), y.device()));
  return {y.detach(), a.grad(), b.grad()};
}

TEST_CASE("distances and cosines of rows on the device, and their gradients, equal the CPU's") {
  for (const RowShapes& shapes : row_shapes())
    for (const RowMeasure& measure : row_measures()) {
      const Tensor x1 = random(shapes.x1, 31), x2 = random(shapes.x2, 32);
      for (const DType type : {DType::f32, DType::f16, DType::bf16}) {
        const double tolerance = type == DType::f32 ? 2e-5 : type == DType::f16 ? 3e-3 : 2e-2;
        const Tensor a = to(x1, type), b = to(x2, type);
        const TensorList wanted = measured(measure, in_double(a), in_double(b));
        for (const Arrangement arrangement :
             {Arrangement::contiguous, Arrangement::transposed, Arrangement::sliced}) {
          if (type != DType::f32 && arrangement == Arrangement::sliced) continue;
          const Tensor there = arrange(a, arrangement), other = arrange(b, arrangement);
          const Fallbacks fallbacks;
          const TensorList got = measured(measure, there, other), again = measured(measure, there, other);
          require_none(fallbacks);
          for (size_t i = 0; i < got.size(); ++i) {
            CHECK_MESSAGE(distance(got[i], wanted[i]) < tolerance,
                          measure.name << ", " << shapes.x1 << " and " << shapes.x2 << ", " << type
                                       << ", result " << i << ", layout " << int(arrangement));
            CHECK_MESSAGE(words(got[i]) == words(again[i]), measure.name << ", result " << i << ", bits");
          }
        }
      }
    }
}

TEST_CASE("largest differences of rows on the device share their gradient") {
  const Tensor x = to(Tensor::from<float>(std::vector<float>{1, -2, 2, 0}, {2, 2}), gpu()).requires_grad_();
  backward(sum(pairwise_distance(x, to(Tensor::from<float>(std::vector<float>{0, -3, 0, 0}, {2, 2}), gpu()),
                                 INFINITY, 0)));
  CHECK(x.grad().to_vector<float>() == std::vector<float>{0.5, 0.5, 1, 0});
}

TEST_CASE("cosines of equal rows on the device are 1") {
  for (const int64_t size : {1, 3, 7, 50, 3000})
    for (const double scale : {1.0, 0x1p-80, 0x1p80}) {
      const Tensor x = to(random({20, size}, 37) * scale, gpu());
      const Tensor one = ones({20}, DType::f32, gpu());
      CHECK(words(cosine_similarity(x, x, 1, 0)) == words(one));
      if (scale < 1) continue;  // the loss adds its eps to the squares
      CHECK(amax(abs(apply(*find_op("cosine_embedding_loss"), {x, x, one})[0])).item() == 0);
    }
}

TEST_CASE("cosines of rows on the device whose squares leave the range") {
  const Tensor x = random({40, 20}, 33), y = random({40, 20}, 34);
  // Their gradients, which the scale divides, are normal numbers: a device may lack others.
  for (const double scale : {0x1p-100, 0x1p-70, 0x1p70, 0x1p100})
    for (const int dim : {0, 1}) {
      const TensorList wanted =
          measured({"", [&](const Tensor& a, const Tensor& b) { return cosine_similarity(a, b, dim, 0); }},
                   in_double(x), in_double(y));
      const TensorList got =
          measured({"", [&](const Tensor& a, const Tensor& b) { return cosine_similarity(a, b, dim, 0); }},
                   to(x * scale, gpu()), to(y * 2, gpu()));
      CHECK_MESSAGE(distance(got[0], wanted[0]) < 1e-6, "scale " << scale);
      CHECK_MESSAGE(distance(in_double(got[1]) * scale, wanted[1]) < 1e-5, "scale " << scale);
      CHECK_MESSAGE(distance(got[2] * 2, wanted[2]) < 1e-5, "scale " << scale);
    }
}

TEST_CASE("measures of rows on the device take memory for operands and results alone") {
  for (const RowShapes& shapes : large_row_shapes())
    for (const RowMeasure& measure : row_measures(false)) {
      const Tensor x1 = random(shapes.x1, 35), x2 = random(shapes.x2, 36);
      for (const DType type : {DType::f32, DType::bf16}) {
        const Tensor a = to(to(x1, gpu()), type).detach().requires_grad_(),
                     b = to(to(x2, gpu()), type).detach().requires_grad_();
        // Of all pairs of 16-bit rows, the gradient of largest differences measures the rows again and counts
        // equal ones, and the product of directions is f32 without matrix units.
        const auto is = [&](const char* part) { return measure.name.find(part) != std::string::npos; };
        const bool takes_f32 = type == DType::bf16 && shapes.x1[1] == 1 && (is("inf") || is("cosine"));
        const double most = takes_f32 ? 3.5 : 1.5;
        const double ratio = peak_of_measure(measure, a, b);
        CHECK_MESSAGE(ratio < most, measure.name << ", " << ratio << ", " << shapes.x1 << " and " << shapes.x2
                                                 << ", " << type);
      }
    }
}

}  // namespace
}  // namespace lunagrad::tests

// Matrix products of 16-bit types and at lower precision, on matrix units if the device has them; and the
// translation of the shader of the matrix units.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "gpu/vulkan/pipeline_maker.h"
#include "gpu/vulkan/portable_matrices.h"
#include "tests/gpu/compare.h"

namespace lunagrad::tests {
namespace {

struct Sizes {
  Shape a, b;
};
const Sizes kSizes[] = {{{1, 1}, {1, 1}},           {{3, 5}, {5, 7}},
                        {{128, 128}, {128, 128}},   {{130, 72}, {72, 136}},
                        {{65, 264}, {264, 129}},    {{64, 2000}, {2000, 64}},
                        {{3, 40, 48}, {3, 48, 56}}, {{2, 1, 40, 64}, {3, 64, 24}},
                        {{300}, {300, 8}},          {{200, 384}, {384, 256}}};

TEST_CASE("products of 16-bit matrices are summed in f32 and rounded once") {
  const NoGrad off;
  for (const DType type : {DType::f16, DType::bf16})
    for (const Sizes& c : kSizes) {
      const Tensor a = to(random(c.a, 1), type), b = to(random(c.b, 2), type);
      // Half a unit in the last place: 11 and 8 bits.
      const double rounding = type == DType::f16 ? 0x1p-11 : 0x1p-8;
      for (const Arrangement left : {Arrangement::contiguous, Arrangement::transposed, Arrangement::sliced})
        for (const Arrangement right : {Arrangement::contiguous, Arrangement::transposed}) {
          const Tensor got = matmul(arrange(a, left), arrange(b, right));
          CHECK(got.dtype() == type);
          CHECK_MESSAGE(product_error(got, a, b) < 1.01 * rounding,
                        "matmul of " << text(c.a, " and ", c.b) << " in " << int(type) << ", layouts "
                                     << int(left) << " " << int(right));
        }
    }
  for (const DType type : {DType::f16, DType::bf16}) {
    const Tensor x = to(random({3, 70, 40}, 3), type), w = to(random({33, 40}, 4), type),
                 bias = to(random({33}, 5), type);
    const Tensor exact = linear(to(x, DType::f64), to(w, DType::f64), to(bias, DType::f64));
    CHECK(distance(linear(to(x, gpu()), to(w, gpu()), to(bias, gpu())), exact) <
          (type == DType::f16 ? 0x1p-11 : 0x1p-8));
  }
}

TEST_CASE("the precision of products with \"high\" and \"medium\"") {
  const NoGrad off;
  struct Level {
    MatmulPrecision precision;
    double bound;
  };
  // The errors of both factors, of 11 or 8 bits, at their largest.
  for (const Level& level : {Level{MatmulPrecision::highest, 1e-6}, Level{MatmulPrecision::high, 0x1p-11},
                             Level{MatmulPrecision::medium, 0x1p-7}})
    for (const Sizes& c : {Sizes{{200, 384}, {384, 256}}, Sizes{{1031, 257}, {257, 521}},
                           Sizes{{3, 512, 300}, {3, 300, 308}}}) {
      const Tensor a = random(c.a, 1), b = random(c.b, 2);
      const MatmulPrecision before = context().matmul_precision;
      context().matmul_precision = level.precision;
      const Tensor got = matmul(to(a, gpu()), arrange(b, Arrangement::transposed));
      context().matmul_precision = before;
      CHECK_MESSAGE(product_error(got, a, b) < level.bound,
                    "precision " << int(level.precision) << " of " << text(c.a, " and ", c.b));
    }
}

TEST_CASE("products with \"high\" keep the exponents of f32") {
  const NoGrad off;
  const MatmulPrecision before = context().matmul_precision;
  context().matmul_precision = MatmulPrecision::high;
  const Tensor a = to(random({640, 512}, 1), DType::f32), b = to(random({512, 640}, 2), DType::f32);
  for (int64_t column = 0; column < 512; ++column) a.data<float>()[7 * 512 + column] *= 0x1p-24f;
  for (const auto& [left, right] : {std::pair{1e37, 1e-3}, {1e-30, 1e-7}, {1e-28, 1e30}, {1.0, 0.0}}) {
    const Tensor x = a * left, y = b * right;
    CHECK_MESSAGE(product_error(matmul(to(x, gpu()), to(y, gpu())), x, y) < 0x1p-11,
                  "factors of " << left << " and " << right);
  }
  // An infinite element affects its row alone.
  const Tensor x = clone(a);
  x.data<float>()[3 * 512 + 5] = INFINITY;
  const Tensor got = to(matmul(to(x, gpu()), to(b, gpu())), cpu_device());
  CHECK(!std::isfinite(got.data<float>()[3 * 640]));
  CHECK(product_error(narrow(got, 0, 4, 636), narrow(a, 0, 4, 636), b) < 0x1p-11);
  context().matmul_precision = before;
}

TEST_CASE("the shader of the matrix units is translated to SPV_KHR_cooperative_matrix") {
  const auto shaders = gpu::all_shaders();
  const auto found = std::find_if(shaders.begin(), shaders.end(), [](const gpu::ShaderCode& shader) {
    return shader.name == "matmul_cooperative";
  });
  REQUIRE(found != shaders.end());
  const std::vector<uint32_t> given = gpu::words_of(*found);
  REQUIRE(gpu::is_cooperative(given));
  for (const bool bfloat : {false, true}) {
    const std::vector<uint32_t> made = gpu::portable_matrices(given, bfloat);
    CHECK(!gpu::is_cooperative(made));
    std::multiset<uint32_t> opcodes, capabilities;
    std::map<uint32_t, uint32_t> constants,
        element;  // values; and the component types of matrices by their uses
    std::map<uint32_t, std::span<const uint32_t>> floats;
    size_t at = 5;
    for (; at < made.size() && made[at] >> 16; at += made[at] >> 16) {
      const std::span<const uint32_t> in(&made[at], made[at] >> 16);
      const uint32_t opcode = in[0] & 0xffff;
      opcodes.insert(opcode);
      if (opcode == 17) capabilities.insert(in[1]);
      if (opcode == 22) floats[in[1]] = in;
      if (opcode == 43) constants[in[2]] = in[3];
      if (opcode == 4456) element[constants.at(in[6])] = in[2];
      if (opcode == 61) CHECK((in.size() == 4 || (in[4] & ~7u) == 0));
    }
    CHECK(at == made.size());
    for (uint32_t nv = 5358; nv <= 5362; ++nv) CHECK(opcodes.count(nv) == 0);
    CHECK(opcodes.count(4456) == 3);
    CHECK(opcodes.count(4457) > 0);
    CHECK(opcodes.count(4458) > 0);
    CHECK(opcodes.count(4459) > 0);
    CHECK(capabilities.count(6022) == 1);
    CHECK(capabilities.count(5345) == 0);
    CHECK(capabilities.count(5118) == size_t(bfloat));
    REQUIRE(element.size() == 3);  // A, B and the sums
    CHECK(element[0] == element[1]);
    CHECK(floats.at(element[0])[2] == 16);
    CHECK(floats.at(element[0]).size() == (bfloat ? 4 : 3));
    CHECK(floats.at(element[2])[2] == 32);
  }
}

}  // namespace
}  // namespace lunagrad::tests

// Fourier transforms on the Vulkan device against the CPU's in double precision: lengths of one dispatch, of
// two, and of a convolution, along any dim, in numbers that do not fill a work group.
#include "tests/gpu/compare.h"

namespace lunagrad::tests {
namespace {

Tensor transform(const Tensor& x, int dim, bool inverse) {
  return apply1(*find_op(inverse ? "fft.ifft" : "fft.fft"), {x}, {Value(), dim, 1});
}

TEST_CASE("Fourier transforms of any length equal the CPU's and run on the device") {
  const NoGrad off;
  const Fallbacks fallbacks;
  uint64_t stream = 1;
  for (const int64_t n :
       {1,   2,   3,   4,   5,    6,    7,    8,    11,   15,   16,   27,    32,    60,   97,
        125, 243, 256, 500, 1024, 1536, 2000, 2048, 2049, 2160, 4096, 10007, 19683, 32768})
    for (const auto& [shape, dim] :
         {std::pair<Shape, int>{{n}, 0}, {{3, n}, 1}, {{2, n, 5}, 1}, {{n, 33}, 0}}) {
      if (numel(shape) > 200000) continue;
      const Tensor x = complex(random(shape, stream), random(shape, stream + 1));
      stream += 2;
      for (const bool inverse : {false, true}) {
        const Tensor expected = to(transform(to(x, DType::c128), dim, inverse), DType::c64);
        for (const Arrangement arrangement : {Arrangement::contiguous, Arrangement::sliced})
          CHECK_MESSAGE(distance(transform(arrange(x, arrangement), dim, inverse), expected) < 2e-6,
                        "length " << n << " of shape " << text(shape) << (inverse ? ", inverse" : ""));
      }
    }
  for (const auto& [name, count] : fallbacks.ops) CHECK_MESSAGE(false, name << " fell back to the CPU");
}

TEST_CASE("spectra of real numbers of any length equal the CPU's and run on the device") {
  const NoGrad off;
  const Fallbacks fallbacks;
  const Op &forward = *find_op("fft.rfft"), &back = *find_op("fft.irfft");
  for (const int64_t n : {1, 2, 3, 8, 13, 100, 509, 2048, 5000}) {
    const Tensor x = random({3, n}, uint64_t(n) + 1000);
    const Tensor half = apply1(forward, {x}, {Value(), -1, 0});
    CHECK(distance(apply1(forward, {to(x, gpu())}, {Value(), -1, 0}), half) < 2e-6);
    CHECK(distance(apply1(back, {to(half, gpu())}, {n, -1, 0}), x) < 2e-6);
  }
  for (const auto& [name, count] : fallbacks.ops) CHECK_MESSAGE(false, name << " fell back to the CPU");
}

}  // namespace
}  // namespace lunagrad::tests

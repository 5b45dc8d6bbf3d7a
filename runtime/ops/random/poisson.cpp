// Poisson numbers. Element i takes the blocks i 2^16, i 2^16 + 1, … of the draw, as many as it needs.
#include <atomic>
#include <cmath>

#include "runtime/core/random.h"
#include "runtime/cpu/parallel.h"
#include "runtime/ops/dense.h"
#include "runtime/ops/families.h"
#include "runtime/ops/flops.h"

namespace lunagrad {
namespace {

// Two uniform numbers in [0, 1) at a time.
class Uniforms {
 public:
  Uniforms(RandomDraw draw, int64_t element) : draw_(draw), block_(uint64_t(element) << 16) {}
  std::pair<double, double> next() {
    const PhiloxBlock words = philox(draw_.seed, draw_.stream, block_++);
    return {uniform_f64(words[0], words[1]), uniform_f64(words[2], words[3])};
  }

 private:
  RandomDraw draw_;
  uint64_t block_;
};

// The smallest k whose distribution function exceeds a uniform number.
double small_poisson(double rate, Uniforms uniforms) {
  const double u = uniforms.next().first;
  double term = std::exp(-rate), sum = term, k = 0;
  while (u >= sum && k < 200) {
    ++k;
    term *= rate / k;
    sum += term;
  }
  return k;
}

// W. Hoermann, "The transformed rejection method for generating Poisson random variables" (1993), PTRS.
double large_poisson(double rate, Uniforms uniforms) {
  const double log_rate = std::log(rate), b = 0.931 + 2.53 * std::sqrt(rate), a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), bound = 0.9277 - 3.6224 / (b - 2);
  for (int tries = 0; tries < 1 << 16; ++tries) {
    const auto [first, v] = uniforms.next();
    const double u = first - 0.5, us = 0.5 - std::fabs(u);
    const double k = std::floor((2 * a / us + b) * u + rate + 0.43);
    if (us >= 0.07 && v <= bound) return k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    int sign;
    if (std::log(v * inverse_alpha / (a / (us * us) + b)) <= k * log_rate - rate - lgamma_r(k + 1, &sign))
      return k;
  }
  return std::floor(rate);  // this many rejections are less likely than a hardware error
}

void poisson_shape(Call& call) {
  const DType type = call.input(0).dtype();
  if (!is_floating(type)) fail("poisson: a floating-point tensor of rates is needed (got ", type, ")");
  call.emit(call.input(0).shape(), type);
}
void poisson_cpu(const Call& call) {
  const Tensor rates = in_order(call.input(0)), &out = call.output();
  const RandomDraw draw{call.args[0].u, call.args[1].u};
  visit_dtype(out.dtype(), [&]<class T>() {
    const T* const from = rates.data<T>();
    T* const to = out.data<T>();
    std::atomic<bool> fine = true;
    parallel_for(out.numel(), 256, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const double rate = convert<double>(from[i]);
        if (!(rate >= 0 && std::isfinite(rate))) {
          fine = false;
          return;
        }
        to[i] = convert<T>(rate < 10 ? small_poisson(rate, {draw, i}) : large_poisson(rate, {draw, i}));
      }
    });
    for (int64_t i = 0; !fine && i < out.numel(); ++i) {
      const double rate = convert<double>(from[i]);
      if (!(rate >= 0 && std::isfinite(rate)))
        fail("poisson: a rate must be finite and not negative (got ", rate, ")");
    }
  });
}
// A draw has no gradient; it is 0, as for bernoulli.
void poisson_vjp(Backward& b) { b.set(0, zeros(b.shape(0), b.dtype(0), b.device())); }
const Op kPoisson{.name = "poisson",
                  .doc = "Poisson random numbers with the rates that input gives.",
                  .inputs = {{"input"}},
                  .shape = poisson_shape,
                  .cpu = poisson_cpu,
                  .vjp = poisson_vjp,
                  .random = true,
                  .judges_values = true,
                  .family = OpFamily::other,
                  .flops = {for_results<30>, "about 30 for each element of the result"}};

}  // namespace

std::span<const Op* const> poisson_ops() {
  static const Op* const ops[] = {&kPoisson};
  return ops;
}

}  // namespace lunagrad

// batch_norm on the Vulkan device: sizes that do not divide into vectors and parts, every type, numbers far
// from 0, gradients of both orders, running statistics, and the same bits each time.
#include "tests/gpu/compare.h"
#include "tests/support/timing.h"

namespace lunagrad::tests {
namespace {

struct BatchNormCase {
  Shape shape;
  int64_t skipped = 0;  // elements before the input in its memory
};
// Few channels with large images, channels beside each other, images that are no multiple of four.
const std::vector<BatchNormCase>& cases() {
  static const std::vector<BatchNormCase> all = {
      {{2, 1}},        {{300, 1}},     {{5, 3}},         {{70, 16}},      {{37, 33}},
      {{260, 100}},    {{2000, 40}},   {{3, 5, 7}},      {{4, 3, 2}},     {{2, 3, 4, 5}},
      {{6, 17, 7, 7}}, {{1, 2, 5000}}, {{2, 2, 90, 91}}, {{1, 1, 9, 50}}, {{2, 3, 128, 96}},
      {{3, 4, 8}, 1},  {{3, 4, 8}, 4}, {{9, 32}, 3},     {{2, 600, 3}},   {{1, 2, 3, 4, 5}}};
  return all;
}

struct Run {
  Tensor y, mean, var, dx, dweight, dbias;
};

Tensor placed(const Tensor& x, Device& device, int64_t skipped) {
  const Tensor memory = zeros({x.numel() + skipped}, x.dtype(), device);
  return reshape(copy_(slice(memory, 0, skipped, x.numel() + skipped), reshape(to(x, device), {x.numel()})),
                 x.shape());
}

// One call of each pass. The weight and the statistics are f32 for 16-bit inputs.
Run run_on(Device& device, const BatchNormCase& c, DType type, bool training, double offset = 0,
           bool affine = true) {
  const int64_t channels = c.shape[1];
  const auto of_channels = [&](uint64_t stream, double low, double high) {
    const NoGrad off;
    return to(to(random({channels}, stream, low, high), device),
              type == DType::f64 ? DType::f64 : DType::f32);
  };
  Run run;
  Tensor x, g;
  {
    const NoGrad off;
    // Values that 16 bits hold, so that both devices start from the same ones.
    const DType narrow = is_16bit_float(type) ? type : DType::f32;
    x = placed(to(to(random(c.shape, 1) + offset, narrow), type), device, c.skipped);
    g = placed(to(to(random(c.shape, 2), narrow), type), device, c.skipped);
  }
  x = x.detach().requires_grad_();
  const Tensor weight = affine ? of_channels(3, 0.5, 2).requires_grad_() : Tensor();
  const Tensor bias = affine ? of_channels(4, -1, 1).requires_grad_() : Tensor();
  run.mean = of_channels(5, -1, 1), run.var = of_channels(6, 0.5, 2);
  run.y = batch_norm(x, run.mean, run.var, weight, bias, training, 0.3, 1e-3);
  backward(run.y, g);
  run.dx = x.grad();
  if (affine) run.dweight = weight.grad(), run.dbias = bias.grad();
  return run;
}

double tolerance(DType type) { return type == DType::f32 ? 3e-6 : type == DType::f16 ? 1e-3 : 8e-3; }

TEST_CASE("batch_norm and its gradients equal the CPU's for every size and type") {
  const Fallbacks fallbacks;
  Turns turns(5);
  for (const BatchNormCase& c : cases())
    for (const DType type : {DType::f32, DType::bf16, DType::f16})
      for (const bool training : {true, false}) {
        if (!turns.next()) continue;
        if (type == DType::f16 && c.shape.size() == 2) continue;  // like bf16
        const std::string what = text(c.shape, " + ", c.skipped, ", ", type, training ? ", training" : "");
        const Run got = run_on(gpu(), c, type, training), exact = run_on(cpu_device(), c, type, training);
        const DType wide = DType::f32;
        CHECK_MESSAGE((got.y.dtype() == type && got.dx.dtype() == type), what);
        CHECK_MESSAGE((got.dweight.dtype() == wide && got.dbias.dtype() == wide), what);
        CHECK_MESSAGE(distance(got.y, exact.y) < tolerance(type), "result of " << what);
        // Where large numbers cancel in the gradient of the input, its error is relative to them, not to the
        // small difference.
        CHECK_MESSAGE(distance(got.dx, exact.dx, 1) < tolerance(type), "gradient of " << what);
        CHECK_MESSAGE(distance(got.dweight, exact.dweight, 1) < 5e-6, "gradient of the weight of " << what);
        CHECK_MESSAGE(distance(got.dbias, exact.dbias, 1) < 5e-6, "gradient of the bias of " << what);
        CHECK_MESSAGE(distance(got.mean, exact.mean) < 2e-6, "running mean of " << what);
        CHECK_MESSAGE(distance(got.var, exact.var) < 2e-6, "running variance of " << what);
      }
  for (const bool training : {true, false}) {
    const Run got = run_on(gpu(), {{6, 5, 7}}, DType::f32, training, 0, false);
    const Run exact = run_on(cpu_device(), {{6, 5, 7}}, DType::f32, training, 0, false);
    CHECK(distance(got.y, exact.y) < 3e-6);
    CHECK(distance(got.dx, exact.dx) < 3e-6);
  }
  CHECK(fallbacks.ops.empty());
}

TEST_CASE("the statistics of numbers far from 0 have no cancellation on the device") {
  for (const Shape& shape : {Shape{300, 1}, Shape{1000, 40}, Shape{2, 3, 64, 64}, Shape{5, 3, 7, 7}}) {
    const Run got = run_on(gpu(), {shape}, DType::f32, true, 3000);
    // In double precision, of the same f32 numbers.
    const Run exact = run_on(cpu_device(), {shape}, DType::f64, true, 3000);
    CHECK_MESSAGE(distance(got.var, exact.var) < 1e-5, text(shape));
    CHECK_MESSAGE(distance(got.y, exact.y) < 3e-4, text(shape));  // the mean has 24 bits
  }
  const NoGrad off;
  for (const Shape& shape : {Shape{77, 3}, Shape{77, 40}, Shape{3, 2, 77, 77}}) {
    const Tensor y = batch_norm(full(shape, 1234.567, DType::f32, gpu()), {}, {}, {}, {}, true, 0.1, 1e-12);
    CHECK_MESSAGE(largest(abs(y)) == 0, text("equal numbers of ", shape));
  }
}

TEST_CASE("batch_norm of 16-bit images and its gradient make no cast on the device") {
  const Tensor x = to(to(random({3, 4, 5, 6}, 1), gpu()), DType::bf16).requires_grad_();
  const Tensor weight = ones({4}, DType::f32, gpu()).requires_grad_(), mean = zeros({4}, DType::f32, gpu());
  const Tensor seed = to(to(random({3, 4, 5, 6}, 2), gpu()), DType::bf16);
  const Fallbacks trace;
  for (const bool training : {true, false})
    backward(batch_norm(x, mean, ones({4}, DType::f32, gpu()), weight, weight, training), seed);
  CHECK(trace.casts == 0);
  CHECK(trace.ops.empty());
}

TEST_CASE("batch_norm gives the same bits each time") {
  for (const Shape& shape : {Shape{2000, 40}, Shape{2, 2, 90, 91}, Shape{2, 3, 128, 96}})
    for (const DType type : {DType::f32, DType::bf16}) {
      const Run first = run_on(gpu(), {shape}, type, true);
      for (int i = 0; i < 3; ++i) {
        const Run again = run_on(gpu(), {shape}, type, true);
        for (const auto member : {&Run::y, &Run::mean, &Run::var, &Run::dx, &Run::dweight, &Run::dbias})
          CHECK((again.*member).to_vector<float>() == (first.*member).to_vector<float>());
      }
    }
}

TEST_CASE("second derivatives of batch_norm equal the CPU's") {
  const auto second = [](Device& device, DType type, bool training) {
    const auto given = [&](const Shape& shape, uint64_t stream, double low, DType its) {
      return to(to(random(shape, stream, low, 2), device), its).detach().requires_grad_();
    };
    const Tensor x = given({4, 3, 5}, 1, -2, type), weight = given({3}, 2, 0.5, DType::f32);
    const Tensor mean = zeros({3}, DType::f32, device), var = ones({3}, DType::f32, device);
    const Tensor y = batch_norm(x, mean, var, weight, {}, training);
    GradOptions options;
    options.create_graph = true;
    const TensorList first = grad({sum(square(to(y, DType::f32)))}, {x, weight}, {}, options);
    backward(sum(square(to(first[0], DType::f32))) + sum(first[1] * weight));
    return std::pair(x.grad(), weight.grad());
  };
  const Fallbacks fallbacks;
  for (const bool training : {true, false})
    for (const DType type : {DType::f32, DType::bf16}) {
      const auto got = second(gpu(), type, training), exact = second(cpu_device(), type, training);
      const double limit = type == DType::f32 ? 1e-4 : 0.05;
      CHECK(got.first.dtype() == type);
      CHECK(distance(got.first, exact.first, 0.1) < limit);
      CHECK(distance(got.second, exact.second, 0.1) < limit);
    }
  CHECK(fallbacks.ops.empty());
}

}  // namespace
}  // namespace lunagrad::tests

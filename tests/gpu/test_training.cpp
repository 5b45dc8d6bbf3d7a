// Optimizers and losses on the Vulkan device.
#include "tests/gpu/compare.h"

TEST_SUITE_BEGIN("host");

namespace lunagrad::tests {
namespace {

// Losses of a small MLP, trained with one optimizer on one device from the same initial parameters.
std::vector<double> train(Device& device, const std::string& optimizer, int steps,
                          TensorList* final_params = nullptr) {
  const Tensor x = to(random({96, 20}, 1), device);
  std::vector<int64_t> ids(96);
  for (size_t i = 0; i < ids.size(); ++i) ids[i] = int64_t(philox(3, 0, i)[0] % 5);
  const Tensor labels = Tensor::from<int64_t>(ids, {96}, device);
  TensorList params, states[3];
  for (const Shape& shape : {Shape{32, 20}, Shape{32}, Shape{5, 32}, Shape{5}}) {
    params.push_back(to(random(shape, 10 + params.size(), -0.3, 0.3), device).detach().requires_grad_());
    for (TensorList& state : states) state.push_back(zeros(shape, DType::f32, device));
  }
  std::vector<double> losses;
  for (int step = 1; step <= steps; ++step) {
    const Tensor hidden = relu(linear(x, params[0], params[1]));
    const Tensor loss = cross_entropy(linear(hidden, params[2], params[3]), labels);
    backward(loss);
    losses.push_back(loss.item());
    TensorList grads;
    for (const Tensor& p : params) grads.push_back(p.grad());
    if (optimizer == "sgd") sgd_step(params, grads, {}, {.lr = 0.1, .weight_decay = 0.01, .step = step});
    if (optimizer == "momentum")
      sgd_step(params, grads, states[0],
               {.lr = 0.05, .momentum = 0.9, .dampening = 0.1, .step = step, .nesterov = false});
    if (optimizer == "nesterov")
      sgd_step(params, grads, states[0], {.lr = 0.05, .momentum = 0.9, .step = step, .nesterov = true});
    if (optimizer == "adam")
      adam_step(params, grads, states[0], states[1], {}, {.lr = 0.01, .weight_decay = 0.01, .step = step});
    if (optimizer == "amsgrad")
      adam_step(params, grads, states[0], states[1], states[2], {.lr = 0.01, .step = step});
    if (optimizer == "adamw")
      adam_step(params, grads, states[0], states[1], {},
                {.lr = 0.01, .weight_decay = 0.1, .step = step, .decoupled = true});
    for (const Tensor& p : params) p.set_grad({});
  }
  if (final_params) *final_params = params;
  return losses;
}

TEST_CASE("an MLP trains on the device as on the CPU, with every optimizer and no op on the CPU") {
  for (const char* optimizer : {"sgd", "momentum", "nesterov", "adam", "amsgrad", "adamw"}) {
    TensorList here, there;
    const std::vector<double> expected = train(cpu_device(), optimizer, 25, &here);
    const Fallbacks fallbacks;
    const std::vector<double> got = train(gpu(), optimizer, 25, &there);
    CHECK(fallbacks.ops.empty());
    CHECK_MESSAGE(got.back() < got.front(), optimizer);
    for (size_t i = 0; i < got.size(); ++i)
      CHECK_MESSAGE(std::abs(got[i] - expected[i]) < 2e-4, optimizer << ", step " << i + 1);
    for (size_t i = 0; i < there.size(); ++i)
      CHECK_MESSAGE(distance(there[i].detach(), here[i].detach()) < 1e-3, optimizer << ", parameter " << i);
  }
}

TEST_CASE("gradients are clipped by their common norm on the device") {
  const NoGrad off;
  for (const double p : {2.0, double(INFINITY), 3.0, 1.0})
    for (const double most : {0.5, 1e9}) {
      TensorList here, there;
      for (const Shape& shape : {Shape{300, 70}, Shape{1}, Shape{0, 3}, Shape{4096}, Shape{4097}}) {
        here.push_back(random(shape, 20 + here.size()));
        there.push_back(
            arrange(here.back(), here.size() == 1 ? Arrangement::transposed : Arrangement::contiguous));
      }
      const Tensor expected = clip_grad_norm_(here, most, p);
      const Fallbacks fallbacks;
      const Tensor got = clip_grad_norm_(there, most, p);
      CHECK(fallbacks.ops.empty());
      CHECK_MESSAGE(distance(got, expected) < 1e-6, "norm " << p);
      for (size_t i = 0; i < here.size(); ++i)
        CHECK_MESSAGE(distance(there[i], here[i]) < 2e-6,
                      "norm " << p << " to " << most << ", gradient " << i);
    }
}

TEST_CASE("cross entropy with weights, smoothing, ignored rows and every reduction") {
  for (const Shape& shape : {Shape{7, 5}, Shape{300, 70}, Shape{4, 3, 6}, Shape{1, 1000}}) {
    const Tensor logits = random(shape, 1, -8, 8), weight = random({shape[1]}, 2, 0.5, 2);
    Shape rows = shape;
    rows.erase(1);
    std::vector<int64_t> ids(static_cast<size_t>(numel(rows)));
    for (size_t i = 0; i < ids.size(); ++i)
      ids[i] = i % 6 == 4 ? -100 : int64_t(philox(4, 0, i)[0] % uint64_t(shape[1]));
    const Tensor labels = Tensor::from<int64_t>(ids, rows);
    for (const Reduction reduction : {Reduction::none, Reduction::mean, Reduction::sum})
      for (const double smoothing : {0.0, 0.1})
        for (const bool weighted : {false, true}) {
          const auto run = [&](Device& device) {
            const Tensor x = to(logits, device).detach().requires_grad_();
            const Tensor loss = cross_entropy(x, to(labels, device),
                                              {.weight = weighted ? to(weight, device) : Tensor(),
                                               .reduction = reduction,
                                               .label_smoothing = smoothing});
            backward(sum(loss * loss));
            return TensorList{loss.detach(), x.grad()};
          };
          const TensorList expected = run(cpu_device());
          const Fallbacks fallbacks;
          const TensorList got = run(gpu());
          CHECK(fallbacks.ops.empty());
          CHECK(distance(got[0], expected[0]) < 1e-5);
          CHECK(distance(got[1], expected[1]) < 1e-5);
        }
  }
}

TEST_CASE("a label that is not a class is an error when a value is read, and the device stays usable") {
  const std::vector<int64_t> ids = {0, 2, 7};
  const Tensor loss = cross_entropy(to(random({3, 5}, 1), gpu()), Tensor::from<int64_t>(ids, {3}, gpu()));
  CHECK_THROWS_WITH_AS(loss.item(), doctest::Contains("label 7 at position 3 is out of range for 5 classes"),
                       Error);
  CHECK(ones({2}, DType::f32, gpu()).to_vector<float>() == std::vector<float>{1, 1});
}

}  // namespace
}  // namespace lunagrad::tests

TEST_SUITE_END();

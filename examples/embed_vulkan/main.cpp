// Paints what a network learns: a picture, as a function from places to colours. The window and the network
// share one Vulkan device, so a picture never passes through the host's memory.
//   lunagrad-embed-vulkan          runs until the window is closed
//   lunagrad-embed-vulkan FRAMES   paints FRAMES frames; fails if the network has not learned
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <utility>

#include "window.h"

namespace {

constexpr int kSide = 96, kPlaces = kSide * kSide, kFeatures = 48, kWidth = 64, kStepsAFrame = 4;

lg_engine* engine;

// Releases a tensor's handle at the end of its scope.
class Tensor {
 public:
  Tensor(lg_tensor* handle = nullptr) : handle_(handle) {}
  Tensor(Tensor&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Tensor& operator=(Tensor&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Tensor() { lg_tensor_release(handle_); }
  lg_tensor* get() const { return handle_; }

 private:
  lg_tensor* handle_;
};

// An operation of up to three tensors, with one number.
Tensor call(const char* name, std::initializer_list<const Tensor*> operands, const char* key = nullptr,
            double number = 0) {
  static std::map<std::string, const lg_op*> known;
  const lg_op*& op = known[name];
  if (!op) require(lg_op_find(name, &op));
  std::vector<lg_tensor*> inputs;
  for (const Tensor* x : operands) inputs.push_back(x->get());
  lg_param param{};
  param.struct_size = sizeof param;
  param.name = key;
  param.kind = LG_REAL;
  param.real = number;
  lg_tensor* result = nullptr;
  size_t room = 1;
  require(lg_call(engine, op, inputs.data(), inputs.size(), &param, key ? 1 : 0, &result, &room));
  return result;
}

Tensor from(const std::vector<float>& values, int64_t rows, int64_t columns) {
  const int64_t shape[] = {rows, columns};
  lg_tensor* made = nullptr;
  require(
      lg_tensor_from(engine, values.data(), values.size() * sizeof(float), LG_F32, shape, 2, nullptr, &made));
  return made;
}

// A weight, with the mean of the squares of its gradients.
struct Weight {
  Tensor value, squares;
  Weight(int rows, int columns, std::mt19937& random) {
    std::normal_distribution<float> normal(0, std::sqrt(2.0f / float(rows)));
    std::vector<float> values(size_t(rows) * size_t(columns));
    for (float& x : values) x = normal(random);
    value = from(values, rows, columns);
    squares = call("mul", {&value}, "other", 0);
    require(lg_tensor_set_requires_grad(value.get(), 1));
  }
  // RMSprop.
  void step(double rate) {
    lg_tensor* handle = nullptr;
    require(lg_tensor_grad(value.get(), &handle));
    const Tensor grad(handle);
    squares = call("mul", {&squares}, "other", 0.95);
    const Tensor square = call("mul", {&grad, &grad});
    squares = call("add", {&squares, &square}, "alpha", 0.05);
    const Tensor root = call("sqrt", {&squares});
    const Tensor divisor = call("add", {&root}, "other", 1e-6);
    const Tensor direction = call("div", {&grad, &divisor});
    call("add_", {&value, &direction}, "alpha", -rate);
    require(lg_tensor_set_grad(value.get(), nullptr));
  }
};

// A flower on a gradient; x and y are from -1 to 1.
void color(float x, float y, float* rgb) {
  const float angle = std::atan2(y, x), radius = std::hypot(x, y);
  const bool petal = radius < 0.55f + 0.3f * std::cos(6 * angle), heart = radius < 0.22f;
  rgb[0] = heart ? 0.95f : petal ? 0.85f : 0.1f;
  rgb[1] = heart ? 0.75f : petal ? 0.25f : 0.35f + 0.25f * y;
  rgb[2] = heart ? 0.1f : petal ? 0.45f : 0.55f;
}

}  // namespace

int main(int count, char** words) {
  const long frames = count > 1 ? std::atol(words[1]) : -1;
  Window window("Lunagrad paints what a network learns", 576, kSide);
  require(lg_engine_open(nullptr, &engine));
  const lg_vulkan vulkan = window.vulkan();
  const char* device = nullptr;
  require(lg_vulkan_open(engine, &vulkan, &device));
  require(lg_engine_set_device(engine, device));

  // Places become waves of random directions: so the network can learn edges.
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0, 4);
  std::vector<float> waves(2 * kFeatures), places, colors;
  for (float& x : waves) x = normal(random);
  for (int i = 0; i < kPlaces; ++i) {
    const float x = float(i % kSide) / kSide * 2 - 1, y = float(i / kSide) / kSide * 2 - 1;
    for (int k = 0; k < kFeatures; ++k) {
      const float phase = x * waves[size_t(2 * k)] + y * waves[size_t(2 * k + 1)];
      places.push_back(std::sin(phase));
      places.push_back(std::cos(phase));
    }
    colors.resize(colors.size() + 4, 1);
    color(x, y, &colors[colors.size() - 4]);
  }
  double error = 1;
  {
    const Tensor inputs = from(places, kPlaces, 2 * kFeatures), targets = from(colors, kPlaces, 4);
    Weight first(2 * kFeatures, kWidth, random), second(kWidth, kWidth, random), last(kWidth, 4, random);
    const auto paint = [&] {
      Tensor x = call("matmul", {&inputs, &first.value});
      x = call("relu", {&x});
      x = call("matmul", {&x, &second.value});
      x = call("relu", {&x});
      x = call("matmul", {&x, &last.value});
      return call("sigmoid", {&x});
    };
    for (long frame = 0; frame != frames && !window.wants_to_close(); ++frame) {
      Tensor picture;
      for (int i = 0; i < kStepsAFrame; ++i) {
        picture = paint();
        const Tensor loss = call("mse_loss", {&picture, &targets});
        require(lg_backward(loss.get(), nullptr, 0));
        require(lg_engine_set_grad_enabled(engine, 0, nullptr));
        for (Weight* weight : {&first, &second, &last}) weight->step(0.003);
        require(lg_engine_set_grad_enabled(engine, 1, nullptr));
        if (frame + 1 == frames) require(lg_tensor_item(loss.get(), &error));
      }
      const Tensor bright = call("mul", {&picture}, "other", 255);
      lg_tensor* bytes = nullptr;
      require(lg_tensor_to(bright.get(), nullptr, LG_U8, &bytes));
      const Tensor pixels(bytes);
      lg_vulkan_buffer place{};
      place.struct_size = sizeof place;
      require(lg_tensor_vulkan(pixels.get(), 0, &place));
      require(lg_vulkan_wait(engine, device, window.semaphore(), window.paint(place)));
    }
  }
  require(lg_vulkan_close(engine, device));
  require(lg_engine_close(engine));
  if (frames > 0) std::printf("error %.4f after %ld frames\n", error, frames);
  return frames > 0 && error > 0.02 ? 1 : 0;
}

// An op whose dispatch would take longer than a batch may is divided into several dispatches, with the same
// result.
#include <functional>
#include <string>

#include "gpu/device/device.h"
#include "tests/gpu/compare.h"

namespace lunagrad::tests {
namespace {

struct Long {
  std::string op;
  std::vector<Tensor> operands;
  std::function<Tensor(const std::vector<Tensor>&)> run;
  uint64_t dispatches;  // the long ones, including the gradients'
};

// The result, and the gradients of operands that are not integers.
std::vector<Tensor> results(const Long& work, Device& device, DType type) {
  std::vector<Tensor> operands;
  for (const Tensor& x : work.operands) {
    operands.push_back(to(is_integral(x.dtype()) ? x : to(x, type), device).detach());
    operands.back().requires_grad_(!is_integral(x.dtype()));
  }
  const Tensor out = work.run(operands);
  std::vector<Tensor> all = {out.detach()};
  if (!out.requires_grad()) return all;
  backward(sum(out * out));
  for (const Tensor& x : operands) all.push_back(x.grad());
  return all;
}

TEST_CASE("an op whose dispatch would take long runs in several dispatches") {
  const auto& machine = dynamic_cast<gpu::VulkanDevice&>(gpu()).machine();
  // Expected times differ between devices. A CPU driver is assumed to reach 7.5 multiply-adds per ns.
  const bool slow = machine.context.physical.type == VK_PHYSICAL_DEVICE_TYPE_CPU;
  const auto product = [](const std::vector<Tensor>& x) { return matmul(x[0], x[1]); };
  const auto convolution = [](const std::vector<Tensor>& x) { return conv2d(x[0], x[1], {}, {1}, {2}); };
  const auto attention = [](const std::vector<Tensor>& x) {
    return scaled_dot_product_attention(x[0], x[1], x[2]);
  };
  const Tensor whole = to(random({2, 500, 500}, 1, -9, 9), DType::i32);
  for (const Long& work :
       {Long{"product", {random({500, 1700}, 1), random({1700, 470}, 2)}, product, 3},
        Long{"products of whole numbers", {whole, to(random({500, 900}, 2, -9, 9), DType::i32)}, product, 1},
        Long{"convolution", {random({4, 32, 40, 40}, 1), random({75, 32, 5, 5}, 2)}, convolution, 3},
        Long{"attention",
             {random({8, 700, 60}, 1), random({8, 700, 60}, 2), random({8, 700, 60}, 3)},
             attention,
             3}}) {
    CAPTURE(work.op);
    gpu().sync();
    const uint64_t before = machine.stream.submissions();
    const std::vector<Tensor> got = results(work, gpu(), DType::f32);
    gpu().sync();
    if (slow) CHECK(machine.stream.submissions() - before >= 2 * work.dispatches);
    const std::vector<Tensor> expected = results(work, cpu_device(), DType::f64);
    for (size_t i = 0; i < expected.size(); ++i) {
      CAPTURE(i);
      CHECK(distance(got[i], expected[i]) < 1e-5);
    }
  }
}

}  // namespace
}  // namespace lunagrad::tests

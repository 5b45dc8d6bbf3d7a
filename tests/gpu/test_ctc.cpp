// ctc_loss on the Vulkan device against the CPU.
#include "tests/gpu/compare.h"

namespace lunagrad::tests {
namespace {

TEST_CASE(
    "ctc_loss and its gradient equal the CPU's: repeated labels, empty targets, more states than threads, "
    "impossible alignments") {
  struct Case {
    int64_t steps, classes;
    std::vector<int64_t> targets, input_lengths, target_lengths;
  };
  std::vector<int64_t> many;
  for (int64_t i = 0; i < 150; ++i) many.push_back(1 + i * i % 6);
  const Case cases[] = {{12, 5, {1, 1, 2, 3, 3, 4, 1}, {12, 9, 12}, {4, 3, 0}},
                        {3, 4, {1, 1, 2, 3}, {3, 0, 2}, {3, 0, 1}},
                        {400, 7, many, {400}, {150}}};
  for (const Case& c : cases) {
    const int64_t items = int64_t(c.input_lengths.size());
    for (const bool zero_infinity : {false, true}) {
      Tensor losses[2], gradients[2];
      for (const bool there : {false, true}) {
        Device& device = there ? gpu() : cpu_device();
        const Fallbacks fallbacks;
        const Tensor x = to(random({c.steps, items, c.classes}, 2), device).detach().requires_grad_();
        const Tensor targets = Tensor::from<int64_t>(c.targets, {int64_t(c.targets.size())}, device);
        losses[there] = ctc_loss(
            log_softmax(x, 2), targets, Tensor::from<int64_t>(c.input_lengths, {items}, device),
            Tensor::from<int64_t>(c.target_lengths, {items}, device), 0, Reduction::none, zero_infinity);
        backward(sum(losses[there] * to(random({items}, 3, 0.5, 1), device)));
        gradients[there] = x.grad();
        CHECK(fallbacks.ops.empty());
      }
      CHECK(distance(losses[1].detach(), losses[0].detach()) < 1e-5);
      CHECK(distance(gradients[1], gradients[0]) < 2e-4);
    }
  }
}

}  // namespace
}  // namespace lunagrad::tests

// All op samples and their gradients on the Vulkan device against the CPU, in any layout.
#include <cstdio>
#include <set>

#include "tests/gpu/run_sample.h"

namespace lunagrad::tests {
namespace {

// Outputs and gradients may differ from the CPU's f32 by kTolerance of the largest element. A sum of n terms
// has an error of at most n * 2^-24 of the sum of their magnitudes, in whatever order it is added. The
// samples' sums have up to n = 131 terms (8e-6; the one of 700 is added in a tree), exp and log of the device
// err by a few 2^-23.
TEST_CASE("every op sample and its gradient equal the CPU's, in any layout") {
  std::map<std::string, std::set<std::string>> missing;  // op -> kernels it lacked
  int rows = 0;
  for (const Sample& sample : samples()) {
    const Op* op = find_op(sample.op);
    REQUIRE(op);
    const TensorList inputs = sample_inputs(sample);
    const SampleResult expected = run_sample(*op, sample, inputs);
    if (inputs.empty() || asks_for_c128(*op, sample)) continue;  // creation: below
    ++rows;
    for (const Arrangement arrangement :
         {Arrangement::contiguous, Arrangement::transposed, Arrangement::sliced}) {
      if (sample.contiguous && arrangement != Arrangement::contiguous) continue;
      TensorList there;
      for (const Tensor& x : inputs) there.push_back(arrange(x, arrangement));
      Fallbacks fallbacks;
      const SampleResult got = run_sample(*op, sample, there);
      for (const auto& [name, count] : fallbacks.ops) missing[sample.op].insert(name);
      for (size_t i = 0; i < got.outputs.size(); ++i)
        CHECK_MESSAGE(distance(without_free_signs(*op, got.outputs[i]),
                               without_free_signs(*op, expected.outputs[i])) <= kTolerance,
                      name_of(sample) << " on the device, layout " << int(arrangement));
      // The weighted sum of vectors depends on their signs, and so does its gradient.
      for (size_t i = 0; i < (has_free_signs(*op) ? 0 : got.gradients.size()); ++i)
        CHECK_MESSAGE(distance(got.gradients[i], expected.gradients[i], sample.smallest_scale) <= kTolerance,
                      name_of(sample) << ": gradient " << i << " on the device, layout " << int(arrangement));
    }
  }
  std::printf("%d samples\n", rows);
  for (const auto& [op, kernels] : missing)
    for (const std::string& kernel : kernels)
      CHECK_MESSAGE(kOnTheCpu.count(kernel) == 1, op << ": " << kernel << " must run on the device");
}

}  // namespace
}  // namespace lunagrad::tests

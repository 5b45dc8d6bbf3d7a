// The specialization constants of shaders as C++ structs (shaders/constants.h).
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <set>

#include "gpu/vulkan/pipeline_maker.h"
#include "shaders/constants.h"

namespace lunagrad::tests {
namespace {

// The ids of the specialization constants in a module: OpDecorate with the decoration SpecId.
std::set<uint32_t> ids_in(std::span<const uint32_t> words) {
  constexpr uint32_t kOpDecorate = 71, kSpecId = 1;
  constexpr size_t kHeader = 5;
  std::set<uint32_t> ids;
  for (size_t at = kHeader; at < words.size(); at += words[at] >> 16)
    if ((words[at] & 0xffff) == kOpDecorate && words[at + 2] == kSpecId) ids.insert(words[at + 3]);
  return ids;
}

TEST_CASE("the structs of shaders have the ids of their SPIR-V, once each and in ascending order") {
  CHECK(gpu::all_shaders().size() > 100);
  for (const gpu::ShaderCode& code : gpu::all_shaders()) {
    CAPTURE(code.name);
    CHECK(std::adjacent_find(code.ids.begin(), code.ids.end(), std::greater_equal<>()) == code.ids.end());
    for (const uint32_t id : ids_in(gpu::words_of(code)))
      CHECK(std::find(code.ids.begin(), code.ids.end(), id) != code.ids.end());
  }
}

TEST_CASE("the values of a struct are its constants in the order of their ids") {
  using gpu::shaders::Softmax;
  const Softmax given{.mode = Softmax::kSoftmaxGrad, .along = 32, .held = 3, .subgroup = 16};
  CHECK(given.values() ==
        std::array<uint32_t, 5>{Softmax::kSoftmaxGrad, 32, gpu::shaders::ElementType::kF32, 3, 16});
  const Softmax back = Softmax::of_values(given.values());
  CHECK(back.held == 3);
  CHECK(back.values() == given.values());
  CHECK(gpu::shaders::Triangle{}.values() == std::array<uint32_t, 3>{gpu::shaders::ElementType::kI32, 1, 1});
}

}  // namespace
}  // namespace lunagrad::tests

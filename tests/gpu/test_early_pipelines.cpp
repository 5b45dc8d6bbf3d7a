// Pipelines that are made before somebody asks for them, and the list that says which.
#include <doctest/doctest.h>

#include <atomic>
#include <future>

#include "gpu/device.h"
#include "gpu/early_pipelines.h"
#include "gpu/pipeline_list.h"
#include "tests/files.h"
#include "tests/gpu/cache_home.h"
#include "tests/gpu/compare.h"
#include "tests/gpu/hardware.h"

namespace lunagrad::tests {
namespace {

using gpu::EarlyPipelines;
using gpu::PipelineKey;

PipelineKey key(const char* shader, std::vector<uint32_t> constants) {
  return {gpu::find_shader(shader), std::move(constants)};
}

// What stands for a pipeline where no device is needed.
VkPipeline number(uintptr_t value) { return reinterpret_cast<VkPipeline>(value); }
uintptr_t number(VkPipeline pipeline) { return reinterpret_cast<uintptr_t>(pipeline); }
VkPipeline first_constant(const PipelineKey& key) { return number(key.constants.at(0)); }

std::vector<PipelineKey> numbered(uint32_t count) {
  std::vector<PipelineKey> keys;
  for (uint32_t i = 1; i <= count; ++i) keys.push_back(key("copy", {i}));
  return keys;
}

TEST_CASE("the list of pipelines comes back as it was") {
  gpu::PipelineList list = {
      {key("copy", {1, 2, 3}), 0}, {key("matmul_cooperative", {}), 3}, {key("softmax", {~0u}), 7}};
  list[1].key.code.bfloat = true;
  const gpu::PipelineList got = gpu::pipeline_list(gpu::to_text(list));
  REQUIRE(got.size() == list.size());
  for (size_t i = 0; i < list.size(); ++i) {
    CHECK(got[i].key == list[i].key);
    CHECK(got[i].key.code.name == list[i].key.code.name);
    CHECK(got[i].runs == list[i].runs);
  }
}

TEST_CASE("lines of the list that are damaged, or mean another shader, are left out") {
  const std::string good = gpu::to_text({{key("copy", {1, 2}), 0}});
  CHECK(gpu::pipeline_list(good).size() == 1);
  for (size_t length = 0; length + 6 < good.size(); ++length)  // before the constants
    CHECK_MESSAGE(gpu::pipeline_list(good.substr(0, length)).empty(), good.substr(0, length));
  std::string other_code = good, other_name = good;
  other_code[6] = other_code[6] == '0' ? '1' : '0';
  other_name[0] = 'k';
  std::string many = good.substr(0, good.size() - 1);
  for (int i = 0; i < 40; ++i) many += " 7";
  for (const std::string& bad : {other_code, other_name, many + "\n", std::string("copy\n\n x y\n"),
                                 good.substr(0, good.size() - 1) + " x\n"})
    CHECK_MESSAGE(gpu::pipeline_list(bad).empty(), bad);
  CHECK(gpu::pipeline_list(other_code + good + other_name).size() == 1);
  std::string endless;
  for (int i = 0; i < 2000; ++i) endless += good;
  CHECK(gpu::pipeline_list(endless).size() == 512);
}

TEST_CASE("what a run used comes first in the list, and what many runs did not use goes") {
  const std::vector<PipelineKey> keys = numbered(3);
  gpu::PipelineList list = gpu::behind_run({}, {keys[0], keys[1]});
  list = gpu::behind_run(list, {keys[2], keys[1]});
  REQUIRE(list.size() == 3);
  CHECK(list[0].key == keys[2]);
  CHECK(list[1].key == keys[1]);
  CHECK(list[2].key == keys[0]);
  CHECK(list[2].runs == 1);
  for (int i = 0; i < 7; ++i) list = gpu::behind_run(list, {keys[2], keys[1]});
  CHECK(list.size() == 2);
  // A script's own shader is no other run's.
  PipelineKey own = keys[0];
  const std::vector<uint32_t> words(own.code.words.begin(), own.code.words.end());
  own.code.words = words;
  CHECK(gpu::behind_run({}, {own}).empty());
  CHECK(gpu::behind_run({}, numbered(600)).size() == 512);
}

TEST_CASE("pipelines are made in order, handed over once, and the rest at the end") {
  std::promise<void> made_two;
  std::vector<uint32_t> order;
  EarlyPipelines early(numbered(4), [&](const PipelineKey& key) {
    order.push_back(key.constants[0]);
    if (key.constants[0] == 2) throw std::runtime_error("cannot be made");
    if (key.constants[0] == 4) made_two.set_value();
    return first_constant(key);
  });
  made_two.get_future().wait();
  CHECK(number(early.take(key("copy", {4}))) == 4);  // made, or waited for
  CHECK(early.take(key("copy", {4})) == VkPipeline(VK_NULL_HANDLE));
  CHECK(early.take(key("copy", {2})) == VkPipeline(VK_NULL_HANDLE));  // left to who asks
  CHECK(early.take(key("copy", {9})) == VkPipeline(VK_NULL_HANDLE));
  const std::vector<VkPipeline> left = early.stop();
  CHECK(order == std::vector<uint32_t>{1, 2, 3, 4});
  REQUIRE(left.size() == 2);
  CHECK(number(left[0]) == 1);
  CHECK(number(left[1]) == 3);
  CHECK(early.stop().empty());
}

TEST_CASE(
    "who asks for a pipeline that waits makes it, and the thread does not; one under way is waited for") {
  std::promise<void> begun, go_on;
  std::atomic<int> made = 0;
  EarlyPipelines early(numbered(3), [&](const PipelineKey& key) {
    if (++made == 1) {
      begun.set_value();
      go_on.get_future().wait();
    }
    return first_constant(key);
  });
  begun.get_future().wait();
  CHECK(early.take(key("copy", {2})) == VkPipeline(VK_NULL_HANDLE));
  auto first = std::async(std::launch::async, [&] { return early.take(key("copy", {1})); });
  CHECK(first.wait_for(std::chrono::milliseconds(20)) == std::future_status::timeout);
  go_on.set_value();
  CHECK(number(first.get()) == 1);
  CHECK(number(early.take(key("copy", {3}))) <= 3);
  early.stop();
  CHECK(made <= 2);
}

TEST_CASE("closing amid the work waits for one pipeline alone") {
  std::promise<void> begun;
  std::atomic<int> made = 0;
  EarlyPipelines early(numbered(400), [&](const PipelineKey& key) {
    if (++made == 1) begun.set_value();
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    return first_constant(key);
  });
  begun.get_future().wait();
  CHECK(early.stop().size() == size_t(made));
  CHECK(made < 40);
}

// Some ops whose kernels differ, and their result.
std::vector<float> some_work(Device& device) {
  const NoGrad off;
  const Tensor x = to(random({40, 30}, 1), device);
  return softmax(tanh(matmul(x, transpose(x, 0, 1))) + 1.0, -1).to_vector<float>();
}

TEST_CASE("the second start makes the pipelines of the first in the background, and they are used") {
  const Folder folder;
  const CacheHome home(folder.file("cache"));
  const auto [instance, physical] = first_hardware();
  std::vector<float> expected;
  {
    gpu::VulkanDevice device("vulkan", instance, physical);
    expected = some_work(device);
    CHECK(device.machine().pipelines.made_early() == 0);
  }
  {
    gpu::VulkanDevice device("vulkan", instance, physical);
    device.machine().pipelines.finish_early();
    CHECK(some_work(device) == expected);
    CHECK(device.machine().pipelines.made_early() >= 4);
  }
  for (int i = 0; i < 5; ++i) {  // closed while it makes them
    gpu::VulkanDevice device("vulkan", instance, physical);
    device.machine();
    if (i % 2 == 0) CHECK(some_work(device) == expected);
  }
}

}  // namespace
}  // namespace lunagrad::tests

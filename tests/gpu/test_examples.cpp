// The examples on the Vulkan device: they learn the same as on the CPU, no op falls back to the CPU, and in a
// step only the logged loss is copied to the host.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "gpu/device/device.h"
#include "tests/gpu/compare.h"
#include "tests/support/files.h"
#include "tests/support/recorder.h"

namespace lunagrad::tests {
namespace {

struct Example {
  std::string file;
  std::map<std::string, std::string> set;
  std::vector<std::string> arguments;
  double tolerance;  // of the losses, which diverge chaotically
};

struct Learned {
  std::vector<double> losses;
  std::vector<uint64_t> copies;  // to the host so far, at the end of each step
};

constexpr int64_t kSteps = 6;

Learned learn(const Example& example, const std::string& device) {
  auto& gpu = dynamic_cast<gpu::VulkanDevice&>(require_device("vulkan"));
  Learned learned;
  Recorder recorder;
  recorder.also = [&](const Event& event) {
    if (event.kind != Event::Kind::metrics) return;
    for (const auto& [name, value] : event.metrics)
      if (name == "loss") {
        learned.losses.push_back(value);
        learned.copies.push_back(gpu.copies_out());
      }
  };
  RunOptions options;
  options.device = device;
  options.strict_device = true;
  options.write_run = false;
  options.set = example.set;
  options.arguments = example.arguments;
  options.steps = kSteps;
  options.seed = 3;
  options.on_test = [](const TestResult&) {
  };  // with a listener no test is searched for NaN; the search copies at times that vary
  recorder.session.run_file(source_file("examples/" + example.file), options);
  const Outcome outcome = recorder.session.wait();
  CHECK_MESSAGE(outcome == Outcome::ok, example.file << " on " << device << ": " << recorder.error());
  return learned;
}

void learns_the_same(const Example& example) {
  const Learned expected = learn(example, "cpu"), got = learn(example, "vulkan");
  REQUIRE(expected.losses.size() == size_t(kSteps));
  REQUIRE(got.losses.size() == size_t(kSteps));
  for (size_t i = 0; i < got.losses.size(); ++i)
    CHECK_MESSAGE(
        std::abs(got.losses[i] - expected.losses[i]) < example.tolerance,
        example.file << ", step " << i + 1 << ": " << got.losses[i] << ", on the CPU " << expected.losses[i]);
  for (size_t i = 1; i < got.copies.size(); ++i)
    CHECK_MESSAGE(got.copies[i] - got.copies[i - 1] == 1, example.file << ", step " << i + 1);
}

// Files in the format of MNIST with random images.
void write_images(const std::string& folder) {
  for (const auto& [part, count] : {std::pair("train", 200), std::pair("t10k", 20)}) {
    std::ofstream images(folder + "/" + part + "-images-idx3-ubyte", std::ios::binary);
    std::ofstream labels(folder + "/" + part + "-labels-idx1-ubyte", std::ios::binary);
    const auto number = [](std::ofstream& out, int value) {
      for (int shift = 24; shift >= 0; shift -= 8) out.put(char(value >> shift));
    };
    for (const int value : {0x803, count, 28, 28}) number(images, value);
    for (const int value : {0x801, count}) number(labels, value);
    for (int i = 0; i < count; ++i) {
      labels.put(char(i % 10));
      for (int k = 0; k < 28 * 28; ++k) images.put(char((i * 131 + k * (i % 10 + 3)) % 251));
    }
  }
}

TEST_CASE(
    "the MLP, CNN, GPT and LSTM of the examples train on the device and copy only the loss to the host") {
  learns_the_same({"04_digits_mlp.lua", {{"hidden", "32"}}, {}, 1e-4});
  const Folder folder;
  write_images(folder.file("."));
  learns_the_same({"05_mnist_cnn.lua", {{"batch_size", "16"}}, {folder.file(".")}, 1e-3});
  const std::string text = source_file("README.md");
  const std::map<std::string, std::string> small = {
      {"width", "32"}, {"length", "16"}, {"batch_size", "4"}, {"written", "0"}};
  learns_the_same({"06_char_lm.lua", small, {text}, 1e-3});
  std::map<std::string, std::string> two_layers = small;
  two_layers["layers"] = "2";
  learns_the_same({"07_transformer.lua", two_layers, {text}, 1e-3});
}

}  // namespace
}  // namespace lunagrad::tests

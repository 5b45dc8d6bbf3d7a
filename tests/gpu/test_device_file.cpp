// The files that are kept for a device.
#include <filesystem>

#include "gpu/device/device.h"
#include "gpu/vulkan/device_file.h"
#include "tests/gpu/cache_home.h"
#include "tests/gpu/compare.h"
#include "tests/gpu/hardware.h"
#include "tests/support/files.h"

TEST_SUITE_BEGIN("host");

namespace lunagrad::tests {
namespace {

TEST_CASE("a device file is loaded as it was saved, or not at all if it is damaged") {
  const Folder folder;
  const CacheHome home(folder.file("cache"));
  const gpu::DeviceFile file("pipelines", some_device(1)), other("pipelines", some_device(2)),
      used("pipelines-used", some_device(1));
  CHECK(file.path().starts_with(folder.file("cache") + "/lunagrad/pipelines-10de-0000-000000"));
  CHECK(file.path() != other.path());
  CHECK(file.load().empty());
  std::vector<std::byte> data(5000);
  for (size_t i = 0; i < data.size(); ++i) data[i] = std::byte(i * 7);
  file.save(data);
  CHECK(file.load() == data);
  CHECK(other.load().empty());
  CHECK(used.load().empty());

  const std::string content = read_file(file.path());
  for (const size_t length : {size_t(0), size_t(10), size_t(24), content.size() - 1}) {
    std::ofstream(file.path(), std::ios::binary) << content.substr(0, length);
    CHECK_MESSAGE(file.load().empty(), "half-written after " << length << " bytes");
  }
  std::string damaged = content;
  damaged[1000] ^= 1;
  std::ofstream(file.path(), std::ios::binary) << damaged;
  CHECK(file.load().empty());
  file.save(data);
  CHECK(file.load() == data);
}

TEST_CASE("a cache folder that cannot be written is not an error") {
  const Folder folder;
  folder.with("cache", "a file where the folder should be");
  const CacheHome home(folder.file("cache"));
  const gpu::DeviceFile file("pipelines", some_device(1));
  file.save(std::vector<std::byte>(10));
  CHECK(file.load().empty());
}

TEST_CASE("two devices work concurrently, and each saves its pipeline cache") {
  const Folder folder;
  const CacheHome home(folder.file("cache"));
  const auto [instance, physical] = first_hardware();
  for (int start = 0; start < 2; ++start) {  // the second start loads the files that the first one saved
    const NoGrad off;
    gpu::VulkanDevice second("vulkan:9", instance, physical);
    const Tensor here = random({40, 30}, 1), there = to(here, gpu()), far = to(there, second);
    const Tensor product = matmul(far, transpose(far, 0, 1)), same = matmul(there, transpose(there, 0, 1));
    CHECK(product.to_vector<float>() == same.to_vector<float>());
    CHECK(distance(to(product, gpu()), matmul(here, transpose(here, 0, 1))) < 1e-6);
    CHECK_THROWS_WITH_AS(far + there, doctest::Contains("vulkan:9"), Error);
  }
  size_t kept = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.file("cache/lunagrad")))
    kept += entry.is_regular_file();
  CHECK(kept == 2);  // the pipeline cache and the list of pipelines
}

}  // namespace
}  // namespace lunagrad::tests

TEST_SUITE_END();

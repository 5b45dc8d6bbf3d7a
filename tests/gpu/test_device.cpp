// The order of work, memory, and errors of the Vulkan device.
#include "gpu/device/device.h"
#include "runtime/elementwise/elementwise.h"
#include "tests/gpu/compare.h"

TEST_SUITE_BEGIN("host");

namespace lunagrad::tests {
namespace {

TEST_CASE("a thousand additions in place give exactly a thousand") {
  const NoGrad off;
  for (const int64_t count : {1, 1000, 20000}) {
    Tensor x = zeros({count}, DType::f32, gpu());
    const Tensor one = ones({count}, DType::f32, gpu());
    for (int i = 0; i < 1000; ++i) apply_in_place(elementwise_op(Row::add), {x, one});
    const std::vector<float> values = x.to_vector<float>();
    CHECK(std::all_of(values.begin(), values.end(), [](float v) { return v == 1000.0f; }));
  }
}

TEST_CASE("writes, reads and reuse of memory stay in order") {
  const NoGrad off;
  // y depends on every value of x before it is overwritten. Temporaries are freed and their memory is reused
  // immediately.
  Tensor x = full({5000}, 1.0, DType::f32, gpu()), y = zeros({5000}, DType::f32, gpu());
  double expected = 0;
  for (int i = 1; i <= 300; ++i) {
    y = y + x * double(i);
    copy_(x, Tensor::number(double(i % 7)));
    expected += double(i) * (i == 1 ? 1 : (i - 1) % 7);
  }
  const std::vector<float> values = y.to_vector<float>();
  CHECK(std::all_of(values.begin(), values.end(), [&](float v) { return v == float(expected); }));
}

TEST_CASE("large tensors are copied to the device and back unchanged") {
  const std::vector<float> values = uniform((24 << 20) + 77, 9);  // more than the staging memory holds
  const Shape shape = {int64_t(values.size())};
  CHECK(Tensor::from<float>(values, shape, gpu()).to_vector<float>() == values);
}

TEST_CASE("long work is submitted in several batches, short work in one") {
  const NoGrad off;
  const auto& machine = dynamic_cast<gpu::VulkanDevice&>(gpu()).machine();
  const auto submissions = [&](const Tensor& x, int count, const auto& step) {
    gpu().sync();
    const uint64_t before = machine.stream.submissions();
    Tensor y = x;
    for (int i = 0; i < count; ++i) y = step(y);
    gpu().sync();
    return machine.stream.submissions() - before;
  };
  const auto twice = [](const Tensor& x) { return x * 2.0; };
  CHECK(submissions(zeros({100}, DType::f32, gpu()), 12, twice) == 1);
  // Expected times differ between devices. A CPU driver is assumed to reach 2 bytes and 7.5 multiply-adds per
  // ns.
  if (machine.context.physical.type != VK_PHYSICAL_DEVICE_TYPE_CPU) return;
  // 21 ms each: a batch has at most two of them, or one if the device would idle.
  const uint64_t sums = submissions(zeros({5 << 20}, DType::f32, gpu()), 6, twice);
  CHECK(sums >= 3);
  CHECK(sums <= 6);
  const Tensor a = zeros({512, 512}, DType::f32, gpu());
  // Much work for few bytes.
  const uint64_t products = submissions(a, 4, [&](const Tensor& x) { return matmul(x, a); });
  CHECK(products >= 2);
  CHECK(products <= 4);
}

TEST_CASE("memory of freed tensors is reused") {
  const NoGrad off;
  const auto work = [] {
    Tensor x = full({100, 100}, 1.0, DType::f32, gpu());
    for (int i = 0; i < 50; ++i) x = x * 0.5 + 1.0;
    return x.to_vector<float>();
  };
  work();
  const size_t reserved = gpu().memory().reserved, in_use = gpu().memory().in_use;
  for (int i = 0; i < 20; ++i) work();
  CHECK(gpu().memory().reserved == reserved);
  CHECK(gpu().memory().in_use == in_use);
  gpu().release_unused();
  CHECK(gpu().memory().reserved <= reserved);
}

TEST_CASE("an allocation that does not fit is an error, and the device stays usable") {
  const size_t in_use = gpu().memory().in_use;
  CHECK_THROWS_WITH_AS(Tensor::empty({int64_t(1) << 40}, DType::f32, gpu()), doctest::Contains("no room"),
                       Error);
  CHECK(gpu().memory().in_use == in_use);
  CHECK((ones({3}, DType::f32, gpu()) + 1.0).to_vector<float>() == std::vector<float>{2, 2, 2});
}

TEST_CASE("operands on two devices are an error that names both") {
  const Tensor here = ones({3}), there = ones({3}, DType::f32, gpu());
  CHECK_THROWS_WITH_AS(here + there, doctest::Contains("vulkan"), Error);
  CHECK_THROWS_WITH_AS(require_device("vulkan:77"), doctest::Contains("\"vulkan\""), Error);
}

}  // namespace
}  // namespace lunagrad::tests

TEST_SUITE_END();

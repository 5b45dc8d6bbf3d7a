// Computations of the ranks of a world: sums in a fixed order; and the order of a backward pass that reports
// gradients while it runs.
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "runtime/core/error.h"
#include "runtime/dist/block.h"
#include "runtime/dist/reduce.h"
#include "runtime/dist/world.h"
#include "runtime/ops.h"
#include "runtime/tape/after.h"
#include "runtime/tape/tape.h"
#include "tests/support/message_of.h"

namespace lunagrad::tests {
namespace {

using dist::check_reduction, dist::device_of_rank, dist::first_part, dist::reduce, dist::reduction_of;
using Ranks = dist::Reduction;  // lunagrad::Reduction belongs to losses

template <class T>
std::vector<T> reduced(Ranks reduction, const std::vector<std::vector<T>>& parts) {
  std::vector<const void*> places;
  for (const auto& part : parts) places.push_back(part.data());
  std::vector<T> out(parts[0].size());
  reduce(reduction, dtype_of<T>, places.data(), int(parts.size()), int64_t(out.size()), out.data());
  return out;
}

Tensor scalar_leaf(double value) {
  Tensor x = Tensor::from<double>(std::vector<double>{value}, {1});
  return x.requires_grad_();
}

TEST_CASE("the ranks of a machine take its GPUs in turn") {
  const std::vector<std::string> one{"cpu", "vulkan"}, three{"cpu", "vulkan", "vulkan:1", "vulkan:2"};
  CHECK(device_of_rank("vulkan", 5, one) == "vulkan");
  CHECK(device_of_rank("vulkan", 0, three) == "vulkan");
  CHECK(device_of_rank("vulkan", 2, three) == "vulkan:2");
  CHECK(device_of_rank("vulkan", 4, three) == "vulkan:1");
  CHECK(device_of_rank("vulkan:1", 0, three) == "vulkan:1");
  CHECK(device_of_rank("cpu", 1, three) == "cpu");
  CHECK(device_of_rank("vulkan", 1, {"cpu"}) == "vulkan");  // does not exist; an error says so later
}

}  // namespace

TEST_CASE("ranks are added in halves, the first of which is a power of two") {
  const float big = 1e8f;
  // (big + 1) + (-big + 1) = 0 + … in f32, where one after the other would give 1.
  CHECK(reduced<float>(Ranks::sum, {{big}, {1}, {-big}, {1}})[0] == (big + 1.f) + (-big + 1.f));
  CHECK(reduced<float>(Ranks::sum, {{big}, {1}, {-big}})[0] == (big + 1.f) + -big);
  CHECK(first_part(2) == 1);
  CHECK(first_part(3) == 2);
  CHECK(first_part(8) == 4);
  CHECK(first_part(9) == 8);
}

TEST_CASE("sums of aligned blocks of ranks are what fewer ranks with more parts give") {
  std::vector<std::vector<float>> parts;
  for (int i = 0; i < 8; ++i) {
    std::vector<float> part;
    for (int j = 0; j < 5000; ++j) part.push_back(std::sin(float(i * 5000 + j)) * float(1 << (j % 20)));
    parts.push_back(part);
  }
  const std::vector<float> eight = reduced(Ranks::sum, parts);
  for (const size_t each : {2, 4}) {
    std::vector<std::vector<float>> sums;
    for (size_t i = 0; i < 8; i += each)
      sums.push_back(reduced(Ranks::sum, std::vector<std::vector<float>>(parts.begin() + long(i),
                                                                         parts.begin() + long(i + each))));
    CHECK(reduced(Ranks::sum, sums) == eight);
  }
}

TEST_CASE("16-bit floats are added in f32 and rounded once") {
  const auto half = [](float x) { return Half(x); };
  std::vector<std::vector<Half>> parts(5, {half(0.25f)});
  parts[0][0] = half(1024);
  CHECK(float(reduced(Ranks::sum, parts)[0]) == 1025.f);  // one by one each 0.25 would be lost
  CHECK(float(reduced<BFloat16>(Ranks::mean, {{BFloat16(256.f)}, {BFloat16(1.f)}, {BFloat16(1.f)}})[0]) ==
        86.f);
}

TEST_CASE("integers wrap around, bool is or and and, NaN stays") {
  CHECK(reduced<uint8_t>(Ranks::sum, {{200}, {100}})[0] == 44);
  CHECK(reduced<int64_t>(Ranks::product, {{INT64_MAX}, {2}})[0] == -2);
  CHECK(reduced<int32_t>(Ranks::min, {{3}, {-7}, {5}})[0] == -7);
  const bool yes[] = {true}, no[] = {false};
  const void* const parts[] = {no, yes, no};
  bool out = false;
  reduce(Ranks::sum, DType::boolean, parts, 3, 1, &out);
  CHECK(out);
  reduce(Ranks::product, DType::boolean, parts, 3, 1, &out);
  CHECK(!out);
  CHECK(std::isnan(reduced<float>(Ranks::max, {{1}, {std::nanf("")}, {2}})[0]));
}

TEST_CASE("a reduction that a type has not is refused") {
  CHECK(message_of([] { check_reduction("all_reduce", Ranks::max, DType::c64); }) ==
        "all_reduce: c64 has no max");
  CHECK(message_of([] { check_reduction("all_reduce", Ranks::mean, DType::i64); }) ==
        "all_reduce: the mean of i64 is no i64; write x:float() first, or take the sum");
  CHECK(message_of([] { reduction_of("all_reduce", "avg"); }) ==
        "all_reduce: there is no reduction 'avg'; there are sum, mean, product, min, max");
}

TEST_CASE("memory that another thread took becomes a tensor without a copy, and is given away without one") {
  const size_t before = cpu_device().memory().in_use;
  dist::Block block;
  std::thread([&] {
    block = dist::Block(4 * sizeof(float));
    for (int i = 0; i < 4; ++i) reinterpret_cast<float*>(block.data())[i] = float(i);
  }).join();
  const void* const memory = block.data();
  {
    const size_t bytes = block.bytes();
    const Tensor x(Ref<Storage>(new Storage(cpu_device(), block.release(), bytes)), Layout::contiguous({4}),
                   0, DType::f32);
    CHECK(block.data() == nullptr);
    CHECK(x.raw() == memory);
    CHECK(x.to_vector<float>() == std::vector<float>{0, 1, 2, 3});
    block = dist::Block(x.storage().release(), bytes);
    CHECK(x.storage().bytes == 0);
  }
  CHECK(static_cast<const void*>(block.data()) == memory);
  std::thread([own = std::move(block)] {}).join();
  CHECK(cpu_device().memory().in_use == before);
}

TEST_CASE("a reduction of several tensors takes the memory of those that only one handle refers to") {
  dist::open_world({});
  const Tensor kept = Tensor::from<float>(std::vector<float>{1, 2, 3}, {3});
  const Tensor other = kept;
  const Tensor given = Tensor::from<float>(std::vector<float>{4, 5, 6, 7}, {2, 2});
  const TensorList sums =
      dist::reduce_scatter({&kept, &given}, Ranks::sum, {{3}, {2}}, "two tensors").wait_list();
  CHECK(sums[0].to_vector<float>() == std::vector<float>{1, 2, 3});
  CHECK(sums[1].to_vector<float>() == std::vector<float>{4, 5, 6, 7});
  CHECK(sums[1].shape() == Shape{2, 2});
  CHECK(kept.to_vector<float>() == std::vector<float>{1, 2, 3});
  CHECK(message_of([&] { sum(given); }).find("whole only while its group runs") != std::string::npos);
  const TensorList all = dist::all_gather({kept, sums[1]}, {{3}, {2}}, "two tensors").wait_list();
  CHECK(all[1].to_vector<float>() == std::vector<float>{4, 5, 6, 7});
  CHECK(message_of([&] {
          dist::all_gather({kept, scalar_leaf(1)}, {{3}, {1}}, "");
        }) == "all_gather: tensors of several dtypes or devices; make a call for each");
  CHECK(message_of([&] { dist::send(kept, 1); }) == "send: there is no rank 1 among 1 (they count from 0)");
  CHECK(message_of([&] { dist::receive(0); }) == "receive: rank 0 is this rank; take another one");
}

TEST_CASE("a leaf that someone waits for is visited after its last use, and the pass tells its end") {
  const Tensor first = scalar_leaf(2), second = scalar_leaf(3), third = scalar_leaf(5);
  std::vector<std::string> told;
  const auto log = [&](const char* name, const Tensor& x) {
    return after_accumulation(
        x, [&told, name, &x] { told.push_back(name + std::to_string(int(x.grad().item()))); });
  };
  const uint64_t id = log("first", first);
  log("third", third);
  Tensor h = mul(first, second);
  register_hook(h, [&](const Tensor&) {
    told.push_back("hook");
    at_end_of_backward([&] { told.push_back("end"); });
    return Tensor();
  });
  const Tensor loss = sum(mul(h, third));
  backward(loss, {}, {.retain_graph = true});
  CHECK(told == std::vector<std::string>{"third6", "hook", "first15", "end"});
  CHECK(second.grad().item() == 10);

  // Added to what is there; a removed function is not called.
  told.clear();
  remove_hook(first, id);
  backward(sum(mul(first, third)));
  CHECK(told == std::vector<std::string>{"third8"});
  CHECK(first.grad().item() == 20);

  // grad() accumulates nothing, so it calls no function.
  told.clear();
  grad({sum(mul(first, third))}, {third});
  CHECK(told.empty());
}

TEST_CASE("a leaf that is used several times is told once, with the whole gradient") {
  const Tensor x = scalar_leaf(3);
  int told = 0;
  after_accumulation(x, [&] {
    ++told;
    CHECK(x.grad().item() == 6);
  });
  backward(sum(mul(x, x)));
  CHECK(told == 1);
}

TEST_CASE("outside of a pass there is no end to wait for, and a failed pass tells none") {
  CHECK(backward_pass_number() == 0);
  CHECK(message_of([] { at_end_of_backward([] {}); }) == "backward: no pass is running");
  const Tensor x = scalar_leaf(2);
  Tensor h = mul(x, x);
  bool told = false;
  register_hook(h, [&](const Tensor&) -> Tensor {
    at_end_of_backward([&] { told = true; });
    fail("hook: refused");
  });
  const Tensor loss = sum(h);
  CHECK(message_of([&] { backward(loss); }) == "hook: refused");
  CHECK(!told);
  backward(sum(mul(x, x)));
  CHECK(!told);
  CHECK(message_of([&] { after_accumulation(loss, [] {}); }) ==
        "backward: only a leaf that requires grad is waited for");
}

}  // namespace lunagrad::tests

// Products and convolutions on the GPU that compute the activation which follows them.
#include <doctest/doctest.h>

#include "runtime/deferral/defer.h"
#include "runtime/ops.h"
#include "tests/gpu/compare.h"
#include "tests/support/same_bits.h"

using namespace lunagrad;
using namespace lunagrad::tests;

TEST_CASE("a product on the GPU computes the activation that follows it, in the same bits") {
  const auto numbers = [](const Shape& shape, DType type) {
    return to(to(randn(shape, DType::f32, cpu_device()), type), tests::gpu());
  };
  for (const DType type : {DType::f32, DType::bf16, DType::f16}) {
    const Tensor x = numbers({33, 24}, type), weight = numbers({16, 24}, type), bias = numbers({16}, type);
    const Tensor image = numbers({2, 3, 9, 12}, type), filter = numbers({4, 3, 3, 3}, type);
    for (const char* name : {"relu", "tanh", "sigmoid"}) {
      INFO(name, ' ', dtype_name(type));
      const Op& activation = *find_op(name);
      for (const bool convolves : {false, true}) {
        const auto work = [&] {
          return apply1(activation, {convolves ? conv2d(image, filter) : linear(x, weight, bias)});
        };
        const Tensor expected = work();
        CallQueue queue;
        Tensor got;
        {
          const DeferCalls defer(&queue);
          got = work();
          queue.compute();
        }
        CHECK(same_bits(got, expected));
        // Rounding to 16 bits and relu commute.
        const bool joins = type == DType::f32 || std::string_view(name) == "relu";
        CHECK((queue.report()->bytes_saved > 0) == joins);
      }
    }
  }
}

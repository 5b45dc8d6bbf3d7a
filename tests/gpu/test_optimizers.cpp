// One step of every optimizer, and the clipping of gradients, on the Vulkan device against the CPU.
#include "runtime/op.h"
#include "tests/gpu/compare.h"

namespace lunagrad::tests {
namespace {

struct Step {
  const char* op;
  size_t states;
  std::vector<double> numbers;
};

// Sizes around those of a block, one of them turned around, one without elements.
TensorList make_list(Device& device, DType type, uint64_t stream, double low, double high) {
  TensorList list;
  for (const Shape& shape : {Shape{1024}, Shape{3, 5}, Shape{}, Shape{0, 4}, Shape{70, 33}, Shape{1025}})
    list.push_back(to(to(random(shape, stream + list.size(), low, high), type), device));
  list[4] = transpose(list[4], 0, 1);
  return list;
}

TEST_CASE(
    "one step of every optimizer is the CPU's, in every floating type, in one dispatch without the CPU") {
  const NoGrad off;
  const std::vector<Step> steps = {{"_sgd_step", 0, {0.1, 0, 0, 0.01, 1, 0, 1}},
                                   {"_sgd_step", 1, {0.1, 0.9, 0.2, 0.01, 3, 1, 0}},
                                   {"_adam_step", 2, {0.01, 0.9, 0.99, 1e-8, 0.1, 3, 0, 0}},
                                   {"_adam_step", 3, {0.01, 0.9, 0.99, 1e-8, 0.1, 3, 1, 1}},
                                   {"_adamw_step", 2, {0.01, 0.9, 0.99, 1e-8, 0.1, 3, 0, 0}},
                                   {"_nadam_step", 2, {0.9, 0.99, 1e-8, 0.1, 0.02, 0.01, 0.2, 1}},
                                   {"_radam_step", 2, {0.9, 0.99, 1e-8, -0.1, 0.02, 1, -1}},
                                   {"_radam_step", 2, {0.9, 0.99, 1e-8, 0.1, 0.02, 0, 1}},
                                   {"_adamax_step", 2, {0.9, 0.99, 1e-8, 0.1, 0.02, 1}},
                                   {"_rmsprop_step", 1, {0.01, 0.9, 1e-8, 0.1, 1, 0, 0}},
                                   {"_rmsprop_step", 2, {0.01, 0.9, 1e-8, 0.1, 1, 0.5, 0}},
                                   {"_rmsprop_step", 2, {0.01, 0.9, 1e-2, 0.1, 1, 0, 1}},
                                   {"_rmsprop_step", 3, {0.01, 0.9, 1e-2, 0.1, -1, 0.5, 1}},
                                   {"_adagrad_step", 1, {0.01, 1e-8, 0.1, 1}},
                                   {"_adadelta_step", 2, {0.1, 0.9, 1e-6, 0.1, 1}},
                                   {"_lion_step", 1, {0.01, 0.9, 0.99, -0.1, 1}},
                                   {"_ema_step", 0, {0.99}}};
  for (const Step& step : steps)
    for (const DType type : {DType::f32, DType::f16, DType::bf16}) {
      TensorList lists[2];
      for (const bool there : {false, true}) {
        Device& device = there ? gpu() : cpu_device();
        lists[there] = make_list(device, type, 10, -1, 1);
        for (size_t list = 0; list <= step.states; ++list)
          // Second moments are not negative, and larger than the square of a mean.
          for (const Tensor& x :
               make_list(device, type, 20 + 10 * list, list == 0 ? -1 : 1.5, list == 0 ? 1 : 2.5))
            lists[there].push_back(x);
        if (std::string(step.op) == "_rmsprop_step" && step.numbers[6] != 0)  // the mean, last
          for (size_t i = lists[there].size() - 6; i < lists[there].size(); ++i)
            copy_(lists[there][i], lists[there][i] * 0.25);
        const Fallbacks fallbacks;
        optimizer_step(*find_op(step.op), Operands(lists[there]), step.numbers);
        CHECK_MESSAGE(fallbacks.ops.empty(), step.op);
      }
      const double bound = type == DType::f32 ? 2e-6 : type == DType::f16 ? 1e-3 : 8e-3;
      for (size_t i = 0; i < lists[0].size(); ++i)
        CHECK_MESSAGE(distance(lists[1][i], lists[0][i]) < bound,
                      step.op << " with " << step.states << " states, " << type << ", tensor " << i);
    }
}

TEST_CASE("gradients are clipped as on the CPU: every norm, huge, tiny and bad values") {
  const NoGrad off;
  for (const double power : {2.0, 1.0, 3.5, double(INFINITY)})
    for (const double size : {1.0, 1e30, 1e-25})
      for (const double bad : {0.0, double(NAN), double(INFINITY)})
        for (const double limit : {0.5, 1e35}) {
          Tensor norms[2];
          TensorList lists[2];
          for (const bool there : {false, true}) {
            TensorList list = make_list(cpu_device(), DType::f32, 10, -1, 1);
            for (Tensor& x : list) x = x * size;
            if (bad != 0) list[0].data<float>()[77] = float(bad);
            for (Tensor& x : list) x = there ? to(x, gpu()) : x;
            const Fallbacks fallbacks;
            norms[there] = clip_grad_norm_(list, limit, power);
            CHECK(fallbacks.ops.empty());
            lists[there] = list;
          }
          CAPTURE(power);
          CAPTURE(size);
          CAPTURE(bad);
          CAPTURE(limit);
          const double got = norms[1].item(), expected = norms[0].item();
          CHECK((std::isfinite(expected) ? std::abs(got - expected) <= 4e-5 * expected
                 : std::isnan(expected)  ? std::isnan(got)
                                         : got == expected));
          for (size_t i = 0; i < lists[0].size(); ++i) {
            const double largest = 1e-3 / std::max(1e-38, size);  // distance() is relative to at least 1e-3
            CHECK(distance(lists[1][i] * largest, lists[0][i] * largest) < 4e-5);
          }
        }
}

TEST_CASE("gradients of several types, and of more tensors than one dispatch takes, have one norm") {
  const NoGrad off;
  for (const double limit : {0.5, 1e9}) {
    TensorList here, there;
    for (int i = 0; i < 4200; ++i)
      for (const DType type : {DType::f32, DType::f16, DType::bf16, DType::c64})
        if (type == DType::f32 || i < 3)
          here.push_back(to(random({int64_t(i < 3 ? 5000 : 2)}, uint64_t(i)), type));
    for (const Tensor& x : here) there.push_back(to(x, gpu()));
    const Tensor expected = clip_grad_norm_(here, limit, 2);
    const Fallbacks fallbacks;
    CHECK(distance(clip_grad_norm_(there, limit, 2), expected) < 1e-6);
    CHECK(fallbacks.ops.empty());
    int wrong = 0;
    for (size_t i = 0; i < here.size(); ++i)
      wrong += distance(there[i], here[i]) > (here[i].dtype() == DType::bf16 ? 8e-3 : 1e-3);
    CHECK(wrong == 0);
  }
  TensorList empty = {zeros({0, 3}, DType::f32, gpu())};
  const Fallbacks fallbacks;
  CHECK(clip_grad_norm_(empty, 1, 2).item() == 0);
  CHECK(fallbacks.ops.empty());
}

}  // namespace
}  // namespace lunagrad::tests

#include "runtime/core/user_kernel.h"

#include "runtime/core/primitives.h"

namespace lunagrad {
namespace {

void shape(Call& call) {
  const Dims& types = call.list(kKernelTypes);
  for (int i = 0; i < types.size(); ++i) call.emit(call.list(kKernelShapes + i), DType(types[i]));
}

}  // namespace

const Op& user_kernel_op() {
  static const Op op{.name = "_kernel",
                     .doc = "A compute shader of the script.",
                     .inputs = {{"input", false, true}},
                     .params = {{"kernel", ParamKind::integer, {}},
                                {"groups", ParamKind::integers, {}},
                                {"types", ParamKind::integers, {}},
                                {"shape1", ParamKind::integers, {}},
                                {"shape2", ParamKind::integers, {}, {}, true},
                                {"shape3", ParamKind::integers, {}, {}, true},
                                {"shape4", ParamKind::integers, {}, {}, true}},
                     .shape = shape,
                     .complex = true};
  return op;
}

TensorList launch_kernel(int64_t kernel, const TensorList& inputs, const std::vector<double>& numbers,
                         const Dims& groups, const std::vector<DType>& types,
                         const std::vector<Shape>& shapes) {
  const NoGrad off;
  Call call;
  call.op = &user_kernel_op();
  for (const Tensor& x : inputs) call.in.push_back(contiguous(x));
  Dims numbers_of_types;
  for (const DType type : types) numbers_of_types.push_back(int64_t(type));
  call.params = {kernel, groups, numbers_of_types};
  for (size_t i = 0; i < kMostKernelOutputs; ++i)
    call.params.push_back(i < shapes.size() ? Value(shapes[i]) : Value());
  for (size_t i = 0; i < numbers.size(); ++i) call.args[i].f = numbers[i];
  run(call);
  return {call.out.begin(), call.out.end()};
}

}  // namespace lunagrad

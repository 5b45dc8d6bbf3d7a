#pragma once
// Compute shaders written by the user. A Device that can compile them also implements KernelCompiler. A
// shader runs as a Call of one op record, so that profiles, the tape's timing and memory accounting see it
// like any op. compile() locks shared data; everything else is pure.
#include <array>
#include <string>
#include <vector>

#include "runtime/core/op.h"

namespace lunagrad {

struct KernelSource {
  struct Operand {
    std::string name;
    DType dtype;
  };
  std::string name;
  std::string glsl;  // the user's source, with main()
  std::vector<Operand> inputs, outputs;
  std::vector<std::string> params;  // names of the numbers that it takes
  std::array<int64_t, 3> threads;   // size of a workgroup
};

inline constexpr size_t kMostKernelOutputs = 4;
inline constexpr size_t kMostKernelParams = std::tuple_size_v<Arguments>;

class KernelCompiler {
 public:
  virtual ~KernelCompiler() = default;
  // Returns the kernel's number for launch_kernel. Error with the source lines that do not compile.
  virtual int64_t compile(const KernelSource&) = 0;
};

// The record of all user kernels; it is not in all_ops(). Operands: the inputs, contiguous. Arguments: the
// numbers. Parameters: the kernel's number, its workgroups (none: one invocation for each element of the
// first output), the dtypes of the outputs and their shapes.
const Op& user_kernel_op();
enum UserKernelParam { kKernelNumber, kKernelGroups, kKernelTypes, kKernelShapes };

// Runs the kernel on the inputs' device, without recording it on the tape.
TensorList launch_kernel(int64_t kernel, const TensorList& inputs, const std::vector<double>& numbers,
                         const Dims& groups, const std::vector<DType>& types,
                         const std::vector<Shape>& shapes);

}  // namespace lunagrad

#pragma once
// Compute shaders of the user's own. A device that can compile them is a KernelCompiler beside being a
// Device; the shader then runs as a Call of one record like any op, so that the profile, the tape's clock and
// memory see it. Pure values, but for compile(), which locks what it must.
#include <array>
#include <string>
#include <vector>

#include "runtime/op.h"

namespace lunagrad {

struct KernelSource {
  struct Operand {
    std::string name;
    DType dtype;
  };
  std::string name;
  std::string glsl;  // the user's text, with main()
  std::vector<Operand> inputs, outputs;
  std::vector<std::string> params;  // numbers
  std::array<int64_t, 3> threads;   // of a work group
};

inline constexpr size_t kMostKernelOutputs = 4;
inline constexpr size_t kMostKernelParams = std::tuple_size_v<Arguments>;

class KernelCompiler {
 public:
  virtual ~KernelCompiler() = default;
  // The number of the kernel for launch_kernel. Error with the lines of the user's text that do not compile.
  virtual int64_t compile(const KernelSource&) = 0;
};

// The record of all kernels, which no list of ops holds: operands are the inputs, which lie in order;
// arguments the numbers; parameters the kernel's number, its groups (none: a thread for each element of the
// first output), the types of the outputs and their shapes.
const Op& user_kernel_op();
enum UserKernelParam { kKernelNumber, kKernelGroups, kKernelTypes, kKernelShapes };

// Runs the kernel on the inputs' device.
TensorList launch_kernel(int64_t kernel, const TensorList& inputs, const std::vector<double>& numbers,
                         const Dims& groups, const std::vector<DType>& types,
                         const std::vector<Shape>& shapes);

}  // namespace lunagrad

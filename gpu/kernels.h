#pragma once
// Which ops run on a Vulkan device and how: one Kernel for each op record, from the families in gpu/kernels/,
// whose files are named as those in runtime/ops/. A kernel puts together one or a few Launches; every address
// that a shader may touch goes through the Launch, so that the stream knows what it reads and writes. Used
// under the device's lock.
#include <type_traits>
#include <vector>

#include "gpu/memory.h"
#include "gpu/pipeline.h"
#include "gpu/stream.h"
#include "runtime/op.h"
#include "runtime/small.h"

namespace lunagrad::gpu {

// Type numbers of gpu/shaders/memory.glsl beyond those of DType.
inline constexpr uint32_t kNumberType = 10, kAbsentType = 11, kRaw16Type = 12;
// An integer type of the same size, for elements that are carried bit for bit.
uint32_t raw_type(DType);

template <class T>
Bytes bytes_of(const T& object) {
  static_assert(std::is_trivially_copyable_v<T>);
  return std::as_bytes(std::span(&object, 1));
}

class ProductTable;

// What kernels record with.
struct Recorder {
  Pipelines& pipelines;
  Stream& stream;
  Memory& memory;
  const PhysicalDevice& physical;
  const ProductTable& products;
};

// Device memory for the life of the object; work that was recorded may still use it afterwards, since memory
// is given out again in the order of the stream.
class Scratch {
 public:
  Scratch(Recorder& recorder, size_t bytes) : memory_(recorder.memory), range_(memory_.alloc(bytes)) {}
  ~Scratch() { memory_.free(range_); }
  Scratch(const Scratch&) = delete;
  Range* range() const { return range_; }

 private:
  Memory& memory_;
  Range* range_;
};

// One dispatch: addresses are asked for first, then run() records it.
class Launch {
 public:
  explicit Launch(Recorder& recorder) : recorder_(recorder) {}
  // The address of the tensor's first element.
  uint64_t reads(const Tensor&);
  uint64_t writes(const Tensor&);
  uint64_t reads(const Scratch&);
  uint64_t writes(const Scratch&);

  // How many products of f32 it adds up, where the bytes that it touches do not tell how long it takes.
  void multiplies(double count) { products_ = count; }

  // `arguments` are laid out as the shader's block, `hot` as its push constants behind the address of that
  // block: scalars at their natural alignment.
  void run(const ShaderCode&, std::initializer_list<uint32_t> constants, Groups, Bytes arguments,
           Bytes hot = {});
  // A shader of which each work group does one of so many items (shaders/turns.glsl): in several dispatches
  // where one would keep the device for longer than a batch may.
  void run_in_turns(const ShaderCode&, std::initializer_list<uint32_t> constants, uint32_t items,
                    Bytes arguments);

 private:
  double expected_time() const;  // ns

  Recorder& recorder_;
  uint64_t bytes_ = 0;  // of the tensors
  double products_ = 0;
  Small<Range*, 8> reads_;
  Small<Range*, 4> writes_;
};

struct Kernel {
  // Whether the call can run here. Its operands are on this device or numbers, and have elements.
  bool (*supports)(const Call&) = nullptr;
  void (*run)(const Call&, Recorder&) = nullptr;
  bool complex = false;  // takes c64, too; never c128
  // Whether the call is computed in double precision, which not every device has; null: never.
  bool (*float64)(const Call&) = nullptr;
};
struct KernelEntry {
  const Op* op;  // null: the op is not built in, the entry is skipped
  Kernel kernel;
};
const Kernel* find_kernel(const Op&);  // null when there is none

std::vector<KernelEntry> elementwise_kernels();
std::vector<KernelEntry> create_kernels();
std::vector<KernelEntry> view_kernels();
std::vector<KernelEntry> reduce_kernels();
std::vector<KernelEntry> matmul_kernels();
std::vector<KernelEntry> extreme_kernels();
std::vector<KernelEntry> softmax_kernels();
std::vector<KernelEntry> index_kernels();
std::vector<KernelEntry> random_kernels();
std::vector<KernelEntry> loss_kernels();
std::vector<KernelEntry> optimizer_kernels();
std::vector<KernelEntry> summary_kernels();
std::vector<KernelEntry> conv_kernels();
std::vector<KernelEntry> pool_kernels();
std::vector<KernelEntry> norm_kernels();
std::vector<KernelEntry> attention_kernels();
std::vector<KernelEntry> rearrange_kernels();
std::vector<KernelEntry> pad_kernels();
std::vector<KernelEntry> scatter_kernels();
std::vector<KernelEntry> scan_kernels();
std::vector<KernelEntry> sort_kernels();
std::vector<KernelEntry> resize_kernels();
std::vector<KernelEntry> unfold_kernels();
std::vector<KernelEntry> rope_kernels();
std::vector<KernelEntry> nonzero_kernels();
std::vector<KernelEntry> complex_kernels();
std::vector<KernelEntry> arithmetic_kernels();
std::vector<KernelEntry> multinomial_kernels();
std::vector<KernelEntry> user_kernels();

// At most as many groups as a dispatch may have in x; kernels loop over the rest.
uint32_t group_count(uint64_t wanted, const Recorder&);

// How kernels that visit each element once share the work among groups of 256 threads: several elements a
// thread, so that loads overlap; on the CPU one, since there it only makes code longer.
struct Visit {
  uint32_t per_thread, groups;
};
Visit visit_elements(uint64_t count, const Recorder&);

}  // namespace lunagrad::gpu

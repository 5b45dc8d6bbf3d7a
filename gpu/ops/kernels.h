#pragma once
// Which ops run on a Vulkan device and how: one Kernel for each op record. Each file of gpu/ops/FAMILY/ lists
// its kernels; it has the name of the ops' file in runtime/ops/FAMILY/. A kernel records one or a few
// Launches. It gets every address that a shader reads or writes from the Launch, so that the stream knows the
// hazards. The device's lock guards all of it.
#include <concepts>
#include <optional>
#include <type_traits>
#include <vector>

#include "gpu/rates/device_rates.h"
#include "gpu/vulkan/memory.h"
#include "gpu/vulkan/pipeline.h"
#include "gpu/vulkan/stream.h"
#include "runtime/core/op.h"
#include "runtime/core/small.h"
#include "shaders/constants.h"

namespace lunagrad::gpu {

// Element types of gpu/ops/glsl/memory.glsl: the types of DType and a few more.
using shaders::ElementType;
static_assert(ElementType::kBool == uint32_t(DType::boolean) && ElementType::kU8 == uint32_t(DType::u8) &&
              ElementType::kI32 == uint32_t(DType::i32) && ElementType::kI64 == uint32_t(DType::i64) &&
              ElementType::kF16 == uint32_t(DType::f16) && ElementType::kBF16 == uint32_t(DType::bf16) &&
              ElementType::kF32 == uint32_t(DType::f32) && ElementType::kF64 == uint32_t(DType::f64) &&
              ElementType::kC64 == uint32_t(DType::c64));
// An integer type of the same size, to copy elements bit for bit.
uint32_t raw_type(DType);

template <class T>
Bytes bytes_of(const T& object) {
  static_assert(std::is_trivially_copyable_v<T>);
  return std::as_bytes(std::span(&object, 1));
}

class ProductTable;
class SortedIndices;
class UnitOperands;

// What a kernel needs for recording. Refers to parts of a VulkanDevice::Machine.
struct Recorder {
  Pipelines& pipelines;
  Stream& stream;
  Memory& memory;
  const PhysicalDevice& physical;
  const DeviceRates& rates;
  const ProductTable& products;
  SortedIndices& sorted_indices;
  UnitOperands& unit_operands;
  std::optional<bool> fragment_pairs = {};  // found by the first kernel that needs it (attention_units.cpp)
};

// Temporary device memory of a kernel, freed by the destructor. Work that is recorded by then may still use
// it: freed memory is reused in stream order.
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

// The memory of a tensor with elements, and the device address of its first element.
inline Range& range_of(const Tensor& x) { return *static_cast<Range*>(x.storage().data()); }
inline uint64_t address_of(const Tensor& x) {
  return range_of(x).address + uint64_t(x.offset()) * item_size(x.dtype());
}

// The specialization constants of a shader: a struct of shaders/constants.h.
template <class C>
concept ShaderConstants = requires(const C& constants) {
  { constants.values() } -> std::convertible_to<Constants>;
};
template <ShaderConstants C>
const ShaderCode& shader_of() {
  static const ShaderCode& code = find_shader(C::kShader);
  return code;
}

// One dispatch. reads() and writes() come first, then run() records it.
class Launch {
 public:
  explicit Launch(Recorder& recorder) : recorder_(recorder) {}
  // The address of the tensor's first element.
  uint64_t reads(const Tensor&);
  uint64_t writes(const Tensor&);
  uint64_t reads(const Scratch&);
  uint64_t writes(const Scratch&);

  // Sets the number of f32 multiply-adds. To be called when arithmetic takes longer than memory access.
  void multiplies(double count) { products_ = count; }

  // Records one dispatch. `arguments` have the layout of the shader's argument block. `push` are its push
  // constants after the address of that block. Both have scalar layout.
  template <ShaderConstants C>
  void run(const C& constants, Groups groups, Bytes arguments, Bytes push = {}) {
    run(shader_of<C>(), constants.values(), groups, arguments, push);
  }
  void run(const ShaderCode&, Constants, Groups, Bytes arguments, Bytes push = {});
  // For shaders whose workgroups compute one item each (gpu/ops/glsl/turns.glsl). Splits the items into
  // several dispatches if one would take longer than kLongestBatch.
  template <ShaderConstants C>
  void run_in_turns(const C& constants, uint32_t items, Bytes arguments) {
    run_in_turns(shader_of<C>(), constants.values(), items, arguments);
  }
  void run_in_turns(const ShaderCode&, Constants, uint32_t items, Bytes arguments);

 private:
  double expected_time() const;  // ns

  Recorder& recorder_;
  uint64_t bytes_ = 0;  // bytes of the tensors
  double products_ = 0;
  Small<Range*, 8> reads_;
  Small<Range*, 4> writes_;
  Small<Range*, 4> replaced_;  // spoiled ranges (faults.h) that the dispatch overwrites entirely
};

struct Kernel {
  // Whether the kernel takes the call. Operands are numbers, or tensors of this device with elements.
  bool (*supports)(const Call&) = nullptr;
  void (*run)(const Call&, Recorder&) = nullptr;
  bool complex = false;  // takes c64 operands
  // Whether the call needs double precision, which not every device has. Null: never.
  bool (*float64)(const Call&) = nullptr;
  // For calls with too many elements (parts.h): changes the operands of a call to those that positions first
  // ... first + size - 1 of the results' dim need. The results are changed already. Returns false if the call
  // cannot be divided along the dim. Null: calls are not divided.
  bool (*slice)(Call&, int dim, int64_t first, int64_t size) = nullptr;
  // Runs a call with too many elements in another way. Null: in slices, if these are possible.
  void (*run_large)(const Call&, Recorder&) = nullptr;
};
// Kernel::float64 of a kernel whose every call needs it.
inline bool needs_float64(const Call&) { return true; }
struct KernelEntry {
  const Op* op;  // null: this build has no such op, and the entry is skipped
  Kernel kernel;
};
const Kernel* find_kernel(const Op&);  // null: there is none

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
std::vector<KernelEntry> row_measure_kernels();
std::vector<KernelEntry> nll_kernels();
std::vector<KernelEntry> ctc_kernels();
std::vector<KernelEntry> optimizer_kernels();
std::vector<KernelEntry> summary_kernels();
std::vector<KernelEntry> conv_kernels();
std::vector<KernelEntry> pool_kernels();
std::vector<KernelEntry> norm_kernels();
std::vector<KernelEntry> batch_norm_kernels();
std::vector<KernelEntry> embedding_bag_kernels();
std::vector<KernelEntry> group_norm_kernels();
std::vector<KernelEntry> attention_kernels();
std::vector<KernelEntry> rearrange_kernels();
std::vector<KernelEntry> pad_kernels();
std::vector<KernelEntry> scatter_kernels();
std::vector<KernelEntry> scan_kernels();
std::vector<KernelEntry> sort_kernels();
std::vector<KernelEntry> resize_kernels();
std::vector<KernelEntry> unfold_kernels();
std::vector<KernelEntry> rope_kernels();
std::vector<KernelEntry> rnn_layer_kernels();
std::vector<KernelEntry> nonzero_kernels();
std::vector<KernelEntry> complex_kernels();
std::vector<KernelEntry> fft_kernels();
std::vector<KernelEntry> arithmetic_kernels();
std::vector<KernelEntry> multinomial_kernels();
std::vector<KernelEntry> running_kernels();
std::vector<KernelEntry> count_kernels();
std::vector<KernelEntry> place_kernels();
std::vector<KernelEntry> position_kernels();
std::vector<KernelEntry> gather_with_kernels();
std::vector<KernelEntry> poisson_kernels();
std::vector<KernelEntry> linalg_cholesky_kernels();
std::vector<KernelEntry> linalg_eigen_kernels();
std::vector<KernelEntry> linalg_lu_kernels();
std::vector<KernelEntry> linalg_qr_kernels();
std::vector<KernelEntry> linalg_solve_kernels();
std::vector<KernelEntry> linalg_svd_kernels();
std::vector<KernelEntry> pairs_kernels();
std::vector<KernelEntry> user_kernels();

// Kernels count elements in 32 bits: they take tensors with fewer elements than this, 2^31. Larger calls run
// in parts (parts.h) or on the CPU.
int64_t most_elements();
inline bool indexable(const Tensor& x) { return x.numel() < most_elements(); }
// The same for kernels that count the rows of an operand along a dim, the first parameter, and a row's
// elements.
bool has_indexable_rows(const Call&, int input);
// Another limit for the calling thread during the life of the object: for tests of large calls, and to ask
// whether anything but the size keeps a kernel from a call.
class LimitElements {
 public:
  explicit LimitElements(int64_t most);
  ~LimitElements();
  LimitElements(const LimitElements&) = delete;

 private:
  int64_t previous_;
};
// Whether all operands are f32 or undefined.
bool all_f32(const Call&);
// An operand in contiguous memory; undefined if the call has none.
Tensor contiguous_input(const Call&, int input);
// A view of x's memory that begins `skipped` elements after x's first one.
Tensor window(const Tensor& x, const Shape&, const Strides&, int64_t skipped = 0);
// Positions first ... first + size - 1 of a dim; x itself if it is broadcast along the dim, that is, dim < 0
// or of size 1.
Tensor slice_of(const Tensor& x, int dim, int64_t first, int64_t size);
// The outermost dim with more than one element, of the dims in the mask; -1: there is none.
int outermost_dim(const Shape&, uint32_t mask = ~0u);

inline constexpr uint32_t kGroupSize = 256;  // invocations of a workgroup, unless its shader says otherwise

// `wanted` workgroups, but at most as many as a dispatch may have in x. Kernels loop over the rest.
uint32_t group_count(uint64_t wanted, const Recorder&);
// Workgroups with one invocation for each of `count` elements.
uint32_t groups_for(uint64_t count, const Recorder&);

// Workgroups of a kernel that visits each element once. An invocation takes several elements, so that their
// loads overlap. On CPU devices it takes one: more would only make the code longer.
struct Visit {
  uint32_t per_thread, groups;
};
Visit visit_elements(uint64_t count, const Recorder&);

}  // namespace lunagrad::gpu

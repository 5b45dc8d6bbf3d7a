#include "gpu/ops/kernels.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

Range* live_range(const Tensor& x, const Recorder& recorder) {
  Range& range = range_of(x);
  check_alive(range, recorder.memory);
  return &range;
}

thread_local int64_t limit_of_elements = int64_t(1) << 31;

}  // namespace

int64_t most_elements() { return limit_of_elements; }
bool has_indexable_rows(const Call& call, int input) {
  const Tensor& x = call.input(input);
  if (x.ndim() == 0) return true;
  const int64_t length = x.size(normalize_dim(call.op->name, call.integer(0), x.shape()));
  return length < most_elements() && x.numel() / std::max<int64_t>(1, length) < most_elements();
}
LimitElements::LimitElements(int64_t most) : previous_(std::exchange(limit_of_elements, most)) {}
LimitElements::~LimitElements() { limit_of_elements = previous_; }

uint32_t raw_type(DType type) {
  switch (item_size(type)) {
    case 1:
      return uint32_t(DType::u8);
    case 2:
      return ElementType::kRaw16;
    case 4:
      return uint32_t(DType::i32);
    default:
      return uint32_t(DType::i64);
  }
}

uint64_t Launch::reads(const Tensor& x) {
  if (!x.storage().data()) return 0;  // no elements
  bytes_ += x.nbytes();
  reads_.push_back(live_range(x, recorder_));
  recorder_.stream.faults().check_sound(*reads_.back());
  return address_of(x);
}
uint64_t Launch::writes(const Tensor& x) {
  if (!x.storage().data()) return 0;
  bytes_ += x.nbytes();
  Range* const range = live_range(x, recorder_);
  writes_.push_back(range);
  if (range->spoiled && x.is_contiguous() && x.nbytes() == x.storage().bytes) replaced_.push_back(range);
  return address_of(x);
}
uint64_t Launch::reads(const Scratch& scratch) {
  bytes_ += scratch.range()->size;
  reads_.push_back(scratch.range());
  return scratch.range()->address;
}
uint64_t Launch::writes(const Scratch& scratch) {
  bytes_ += scratch.range()->size;
  writes_.push_back(scratch.range());
  return scratch.range()->address;
}

double Launch::expected_time() const {
  // Overestimates the time: a batch may then be cut too soon, which costs only microseconds.
  constexpr double kCaution = 4;
  // Attention and convolution reach this share of the best matrix product's rate.
  constexpr double kShareOfProducts = 0.71;
  const DeviceRates& rates = recorder_.rates;
  return kCaution *
         std::max(double(bytes_) / rates.bytes, products_ / (kShareOfProducts * rates.multiply_adds()));
}

void Launch::run(const ShaderCode& code, Constants constants, Groups groups, Bytes arguments, Bytes push) {
  Pipeline& pipeline = recorder_.pipelines.get(code, constants);
  ++pipeline.dispatches;
  for (Range* const range : replaced_) range->spoiled = nullptr;
  recorder_.stream.dispatch(pipeline, groups, arguments, push, std::span(reads_.data(), reads_.size()),
                            std::span(writes_.data(), writes_.size()), expected_time());
}

void Launch::run_in_turns(const ShaderCode& code, Constants constants, uint32_t items, Bytes arguments) {
  Pipeline& pipeline = recorder_.pipelines.get(code, constants);
  for (Range* const range : replaced_) range->spoiled = nullptr;
  const double expected = expected_time();
  const uint64_t turns =
      uint64_t(std::clamp(std::ceil(expected / kLongestBatch), 1.0, double(std::max(items, 1u))));
  const uint32_t each = group_count((items + turns - 1) / turns, recorder_);
  for (uint32_t first = 0, count; first < items; first += count) {
    count = std::min(each, items - first);
    ++pipeline.dispatches;
    recorder_.stream.dispatch(pipeline, {count}, arguments, bytes_of(first),
                              std::span(reads_.data(), reads_.size()),
                              std::span(writes_.data(), writes_.size()), expected * count / items);
  }
}

const Kernel* find_kernel(const Op& op) {
  static const std::unordered_map<const Op*, Kernel> kernels = [] {
    std::unordered_map<const Op*, Kernel> all;
    for (const auto family :
         {elementwise_kernels,   create_kernels,       view_kernels,       reduce_kernels,
          extreme_kernels,       matmul_kernels,       softmax_kernels,    index_kernels,
          random_kernels,        loss_kernels,         optimizer_kernels,  summary_kernels,
          conv_kernels,          pool_kernels,         norm_kernels,       attention_kernels,
          rearrange_kernels,     pad_kernels,          scatter_kernels,    scan_kernels,
          sort_kernels,          resize_kernels,       unfold_kernels,     rope_kernels,
          nonzero_kernels,       complex_kernels,      arithmetic_kernels, multinomial_kernels,
          ctc_kernels,           user_kernels,         fft_kernels,        running_kernels,
          count_kernels,         place_kernels,        poisson_kernels,    linalg_cholesky_kernels,
          linalg_lu_kernels,     linalg_solve_kernels, linalg_qr_kernels,  linalg_eigen_kernels,
          linalg_svd_kernels,    batch_norm_kernels,   rnn_layer_kernels,  group_norm_kernels,
          embedding_bag_kernels, row_measure_kernels,  nll_kernels,        position_kernels,
          gather_with_kernels,   pairs_kernels})
      for (const KernelEntry& entry : family())
        if (entry.op) all.emplace(entry.op, entry.kernel);
    return all;
  }();
  const auto found = kernels.find(&op);
  return found == kernels.end() ? nullptr : &found->second;
}

bool all_f32(const Call& call) {
  return std::all_of(call.in.begin(), call.in.end(),
                     [](const Tensor& x) { return !x.defined() || x.dtype() == DType::f32; });
}

Tensor contiguous_input(const Call& call, int input) {
  return call.has(input) ? contiguous(call.input(input)) : Tensor();
}

Tensor window(const Tensor& x, const Shape& shape, const Strides& strides, int64_t skipped) {
  return Tensor(x.storage_ref(), LayoutRef(new Layout(shape, strides)), x.offset() + skipped, x.dtype());
}

Tensor slice_of(const Tensor& x, int dim, int64_t first, int64_t size) {
  if (dim < 0 || x.shape()[dim] == 1) return x;
  Shape shape = x.shape();
  shape[dim] = size;
  return window(x, shape, x.strides(), first * x.strides()[dim]);
}

int outermost_dim(const Shape& shape, uint32_t mask) {
  for (int d = 0; d < shape.size(); ++d)
    if (mask >> d & 1 && shape[d] > 1) return d;
  return -1;
}

uint32_t group_count(uint64_t wanted, const Recorder& recorder) {
  return uint32_t(std::min<uint64_t>(wanted, recorder.physical.limits.maxComputeWorkGroupCount[0]));
}

uint32_t groups_for(uint64_t count, const Recorder& recorder) {
  return group_count((count + kGroupSize - 1) / kGroupSize, recorder);
}

Visit visit_elements(uint64_t count, const Recorder& recorder) {
  const uint32_t per_thread = recorder.physical.type == VK_PHYSICAL_DEVICE_TYPE_CPU ? 1 : 4;
  const uint64_t width = kGroupSize * per_thread;
  return {per_thread, group_count((count + width - 1) / width, recorder)};
}

}  // namespace lunagrad::gpu

// Positions of values in sorted rows, for searchsorted, bucketize and isin. How often numbers occur, for
// bincount, histc and unique (gpu/ops/reductions/bins.comp).
#include <algorithm>
#include <bit>

#include "gpu/ops/copy.h"
#include "gpu/ops/iteration.h"
#include "gpu/ops/kernels.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

struct SearchsortedPushConstants {
  uint64_t result, sequence, values;
  uint32_t count, each, n, step;
};
static_assert(sizeof(SearchsortedPushConstants) <= kPushConstantBytes);

bool supports_searchsorted(const Call& call) {
  const Tensor &rows = call.input(0), &values = call.input(1);
  return rows.dtype() != DType::f64 && indexable(rows) && indexable(values);
}

void run_searchsorted(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const Tensor rows = contiguous(call.input(0)), values = contiguous(call.input(1));
  const bool shared = rows.ndim() == 1;
  Launch launch(recorder);
  SearchsortedPushConstants push{};
  push.result = launch.writes(call.output());
  push.sequence = launch.reads(rows);
  push.values = launch.reads(values);
  push.count = uint32_t(values.numel());
  push.each = shared ? push.count : uint32_t(values.size(-1));
  push.n = uint32_t(rows.size(-1));
  push.step = shared ? 0 : push.n;
  launch.run(shaders::Search{.type = uint32_t(rows.dtype()), .right = call.flag(0)},
             {groups_for(push.count, recorder)}, {}, bytes_of(push));
}

using shaders::Bins;

struct BinsPushConstants {
  uint64_t elements, marks, counts, from;
  uint32_t count, bins;
  float low, high, factor;
};
static_assert(sizeof(BinsPushConstants) <= kPushConstantBytes);

// Counts the elements of x into `to`, i64, or with kMark sets the elements of `to`, bool.
void count_into(const Tensor& to, const Tensor& elements, uint32_t mode, BinsPushConstants push,
                Recorder& recorder) {
  const NoGrad off;
  const bool marks = mode == Bins::kMark;
  const Tensor x = contiguous(elements),
               counts = marks ? to : Tensor::empty(to.shape(), DType::i32, to.device());
  copy(counts, Tensor::number(int64_t(0)), recorder);
  push.count = uint32_t(x.numel());
  push.bins = uint32_t(to.numel());
  Bins form{.mode = mode, .type = uint32_t(x.dtype()), .copies = 0};
  const uint32_t pitch = push.bins | 1;
  if (!marks && pitch <= Bins::kMostShared)
    form.copies = std::min(32u, std::bit_floor(uint32_t(Bins::kMostShared) / pitch));
  // A workgroup that counts in shared memory has some elements for each counter.
  const uint64_t each = form.copies > 0 ? std::max<uint64_t>(4096, 2ull * form.copies * pitch) : 4096;
  const uint64_t groups = std::clamp<uint64_t>(push.count / each, 1, recorder.rates.busy_groups(8));
  Launch launch(recorder);
  push.elements = launch.reads(x);
  (marks ? push.marks : push.counts) = launch.writes(counts);
  form.fours = mode == Bins::kIntervals && moves_in_fours(x.dtype(), push.elements);
  launch.run(form, {uint32_t(groups)}, {}, bytes_of(push));
  if (!marks) copy(to, counts, recorder);
}

bool supports_bincount(const Call& call) {
  return !call.has(1) && indexable(call.input(0)) && indexable(call.output());
}
void run_bincount(const Call& call, Recorder& recorder) {
  count_into(call.output(), call.input(0), Bins::kIntegers, {}, recorder);
}

bool supports_histc(const Call& call) {
  const DType type = call.input(0).dtype();
  return (type == DType::f32 || is_16bit_float(type)) && indexable(call.input(0)) && indexable(call.output());
}
void run_histc(const Call& call, Recorder& recorder) {
  const double low = call.real(1), high = call.real(2);
  count_into(
      call.output(), call.input(0), Bins::kIntervals,
      {.low = float(low), .high = float(high), .factor = float(double(call.integer(0)) / (high - low))},
      recorder);
}

bool supports_present(const Call& call) { return indexable(call.input(0)) && indexable(call.output()); }
void run_present(const Call& call, Recorder& recorder) {
  count_into(call.output(), call.input(0), Bins::kMark, {.from = uint64_t(call.integer(0))}, recorder);
}

}  // namespace

std::vector<KernelEntry> count_kernels() {
  return {{find_op("_searchsorted"), {supports_searchsorted, run_searchsorted}},
          {find_op("_bincount"), {supports_bincount, run_bincount}},
          {find_op("_histc"), {supports_histc, run_histc}},
          {find_op("_present"), {supports_present, run_present}}};
}

}  // namespace lunagrad::gpu

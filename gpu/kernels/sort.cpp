// sort and topk along a dim, of any ordered type (shaders/sort.comp).
#include "gpu/kernels/sort.h"

#include <algorithm>
#include <bit>

#include "gpu/kernels/radix.h"
#include "gpu/kernels/rows.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

using shaders::Sort;

struct Arguments {
  uint64_t values, places, operand;
  uint64_t keys, order;
  uint32_t kept, padded;
  uint32_t run, apart;
  Rows rows;
};
static_assert(offsetof(Arguments, rows) == 56);

constexpr uint32_t kBlock = 2048;  // keys that a work group sorts in shared memory

struct Form {
  bool descending;
  uint32_t type, raw_type;
  bool wide;
};

void launch_sort(Launch& launch, uint32_t mode, uint32_t length, const Form& form, const Arguments& arguments,
                 uint64_t groups, Recorder& recorder, uint32_t levels = 1) {
  launch.run(Sort{.mode = mode,
                  .along = kGroupSize,
                  .length = length,
                  .descending = form.descending,
                  .type = form.type,
                  .raw_type = form.raw_type,
                  .wide = form.wide,
                  .levels = levels},
             {group_count(groups, recorder)}, bytes_of(arguments));
}

// The memory of keys of rows that are longer than a block. `order` holds the positions of wide keys.
struct Keys {
  const Scratch& keys;
  const Scratch* order;
};

// Work groups for so many keys, of which blocks of `length` are sorted together.
uint64_t groups_holding(uint64_t keys, uint32_t length) {
  const uint32_t held = std::max(length, 512u);  // as in sort.comp
  return (keys + held - 1) / held;
}

// The passes between the first and the last one: merges blocks that are sorted in alternating directions.
void merge_blocks(const Keys& keys, Arguments arguments, Recorder& recorder) {
  constexpr uint32_t kMostLevels = 3;  // whose keys a thread holds in registers
  const Form form{false, ElementType::kAbsent, ElementType::kI64, keys.order != nullptr};
  const auto pass = [&](uint32_t mode, uint64_t groups, uint32_t levels) {
    Launch launch(recorder);
    arguments.keys = launch.writes(keys.keys);
    if (keys.order) arguments.order = launch.writes(*keys.order);
    launch_sort(launch, mode, kBlock, form, arguments, groups, recorder, levels);
  };
  const uint64_t elements = uint64_t(arguments.rows.count) * arguments.padded;
  for (arguments.run = 2 * kBlock; arguments.run <= arguments.padded; arguments.run *= 2) {
    for (arguments.apart = arguments.run / 2; arguments.apart >= kBlock;) {
      const uint32_t left = uint32_t(std::bit_width(arguments.apart / kBlock)),
                     levels = std::min(left, kMostLevels);
      pass(Sort::kStep, ((elements >> levels) + kGroupSize - 1) / kGroupSize, levels);
      arguments.apart >>= levels;
    }
    pass(Sort::kMerge, groups_holding(elements, kBlock), 1);
  }
}

// The size along the dim, which is the first parameter of sort and the second of topk.
template <int dim_at>
int64_t length_of(const Call& call) {
  const Tensor& x = call.input(0);
  return x.ndim() == 0 ? 1 : x.size(normalize_dim(call.op->name, call.integer(dim_at), x.shape()));
}

template <int dim_at>
bool supports(const Call& call) {
  const Tensor& x = call.input(0);
  constexpr int64_t kMost = int64_t(1) << 31;
  if (x.dtype() == DType::f64 || x.numel() >= kMost) return false;
  const int64_t length = length_of<dim_at>(call);
  return length <= kBlock || can_sort_rows(x, length);
}

template <int dim_at>
void order(const Call& call, bool descending, int64_t kept, Recorder& recorder) {
  const Tensor &x = call.input(0), &values = call.output(0), &places = call.output(1);
  const int dim = normalize_dim(call.op->name, call.integer(dim_at), x.shape());
  const Form form{descending, uint32_t(x.dtype()), raw_type(x.dtype()), x.dtype() == DType::i64};
  // The results as rows as long as the operand's, of which only the first `kept` elements are written.
  const auto as_long = [&](const Tensor& y) { return window(y, x.shape(), y.strides()); };
  const Tensor long_values = as_long(values), long_places = as_long(places);
  const Tensor* tensors[] = {&x, &long_values, &long_places};
  Arguments arguments{};
  arguments.rows = rows_along(dim, tensors);
  arguments.kept = uint32_t(kept);
  arguments.padded = padded_to(arguments.rows.extent);
  if (arguments.padded > kBlock)
    return sort_rows({x, values, places, arguments.rows, arguments.kept, descending}, recorder);
  const uint64_t elements = uint64_t(arguments.rows.count) * arguments.padded;
  Launch launch(recorder);
  arguments.operand = launch.reads(x);
  arguments.values = launch.writes(values);
  arguments.places = launch.writes(places);
  launch_sort(launch, Sort::kWhole, arguments.padded, form, arguments,
              groups_holding(elements, arguments.padded), recorder);
}

void run_sort(const Call& call, Recorder& recorder) {
  order<0>(call, call.flag(1), length_of<0>(call), recorder);
}
void run_topk(const Call& call, Recorder& recorder) {
  order<1>(call, call.flag(2), call.integer(0), recorder);
}

}  // namespace

uint32_t padded_to(int64_t length) { return std::max<uint32_t>(2, std::bit_ceil(uint32_t(length))); }

void sort_keys(const KeyRows& rows, Recorder& recorder) {
  const Form form{false, ElementType::kAbsent, ElementType::kI64, true};
  Arguments arguments{};
  arguments.rows.count = rows.rows;
  arguments.padded = rows.padded;
  const uint32_t length = std::min(rows.padded, kBlock);
  {
    Launch launch(recorder);
    arguments.keys = launch.writes(rows.keys);
    arguments.order = launch.writes(rows.order);
    launch_sort(launch, Sort::kBlocks, length, form, arguments,
                groups_holding(uint64_t(rows.rows) * rows.padded, length), recorder);
  }
  merge_blocks({rows.keys, &rows.order}, arguments, recorder);
}

std::vector<KernelEntry> sort_kernels() {
  return {{find_op("sort"), {supports<0>, run_sort}}, {find_op("topk"), {supports<1>, run_topk}}};
}

}  // namespace lunagrad::gpu

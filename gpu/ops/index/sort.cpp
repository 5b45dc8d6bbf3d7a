// sort, topk and order statistics of rows along a dim, for any ordered type: short rows in shared memory
// (gpu/ops/index/sort.comp), long ones by radix sort. Also the gradient of the values that they select.
#include "gpu/ops/index/sort.h"

#include <algorithm>
#include <bit>

#include "gpu/ops/copy.h"
#include "gpu/ops/index/radix.h"
#include "gpu/ops/index/select.h"
#include "gpu/ops/rows.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

using shaders::Sort;

struct SortArguments {
  uint64_t values, places, operand;
  uint64_t keys, order;
  uint32_t kept, padded;
  uint32_t run, apart;
  Rows rows;
};
static_assert(offsetof(SortArguments, rows) == 56);

constexpr uint32_t kSortBlock = 2048;  // keys that a workgroup sorts in shared memory

struct Form {
  bool descending;
  uint32_t type, raw_type;
  bool order_apart;
  bool named = false;
};

void launch_sort(Launch& launch, uint32_t mode, uint32_t length, const Form& form,
                 const SortArguments& arguments, uint64_t groups, Recorder& recorder, uint32_t levels = 1) {
  launch.run(Sort{.mode = mode,
                  .along = kGroupSize,
                  .length = length,
                  .descending = form.descending,
                  .type = form.type,
                  .raw_type = form.raw_type,
                  .order_apart = form.order_apart,
                  .levels = levels,
                  .named = form.named},
             {group_count(groups, recorder)}, bytes_of(arguments));
}

// Memory for the keys of rows that are longer than a block. `order` holds the positions of 64-bit keys.
struct Keys {
  const Scratch& keys;
  const Scratch* order;
};

// Workgroups for this number of keys, if blocks of `length` keys are sorted together.
uint64_t groups_holding(uint64_t keys, uint32_t length) {
  const uint32_t held = std::max(length, 512u);  // as in sort.comp
  return (keys + held - 1) / held;
}

// The inner passes: merge blocks that are sorted in alternating directions.
void merge_blocks(const Keys& keys, SortArguments arguments, Recorder& recorder) {
  constexpr uint32_t kMostLevels = 3;  // most levels whose keys an invocation holds in registers
  const Form form{false, ElementType::kAbsent, ElementType::kI64, keys.order != nullptr};
  const auto pass = [&](uint32_t mode, uint64_t groups, uint32_t levels) {
    Launch launch(recorder);
    arguments.keys = launch.writes(keys.keys);
    if (keys.order) arguments.order = launch.writes(*keys.order);
    launch_sort(launch, mode, kSortBlock, form, arguments, groups, recorder, levels);
  };
  const uint64_t elements = uint64_t(arguments.rows.count) * arguments.padded;
  for (arguments.run = 2 * kSortBlock; arguments.run <= arguments.padded; arguments.run *= 2) {
    for (arguments.apart = arguments.run / 2; arguments.apart >= kSortBlock;) {
      const uint32_t left = uint32_t(std::bit_width(arguments.apart / kSortBlock)),
                     levels = std::min(left, kMostLevels);
      pass(Sort::kStep, ((elements >> levels) + kGroupSize - 1) / kGroupSize, levels);
      arguments.apart >>= levels;
    }
    pass(Sort::kMerge, groups_holding(elements, kSortBlock), 1);
  }
}

// The size along the dim, which is the parameter `dim_at`: the first of sort, the second of topk.
template <int dim_at>
int64_t length_of(const Call& call) {
  const Tensor& x = call.input(0);
  return x.ndim() == 0 ? 1 : x.size(normalize_dim(call.op->name, call.integer(dim_at), x.shape()));
}

template <int dim_at>
bool supports_sort(const Call& call) {
  const Tensor& x = call.input(0);
  if (x.dtype() == DType::f64 || !indexable(x)) return false;
  const int64_t length = length_of<dim_at>(call);
  return length <= kSortBlock || can_sort_rows(x, length);
}

struct Order {
  const Tensor &x, &values, &places;
  int dim;
  bool descending;
  uint32_t kept;                   // elements per row of the results
  const Scratch* names = nullptr;  // if not null, written to `places` instead of the positions in a row of x
};

// Long rows are read several times. So they are first copied to contiguous memory.
bool lies_apart(const Tensor& x, int dim) { return x.ndim() > 1 && x.strides()[dim] != 1; }
Tensor side_by_side(const Tensor& x, int dim) { return contiguous(movedim(x, {dim}, {-1})); }

void order_rows(const Order& wanted, Recorder& recorder) {
  const Tensor& x = wanted.x;
  if (x.ndim() > 0 && x.size(wanted.dim) > kSortBlock && lies_apart(x, wanted.dim)) {
    const NoGrad off;
    const Tensor line = side_by_side(x, wanted.dim);
    Shape shape = line.shape();
    shape[line.ndim() - 1] = wanted.kept;
    const Tensor values = Tensor::empty(shape, x.dtype(), x.device()),
                 places = Tensor::empty(shape, DType::i64, x.device());
    order_rows({line, values, places, line.ndim() - 1, wanted.descending, wanted.kept, wanted.names},
               recorder);
    copy(wanted.values, movedim(values, {-1}, {wanted.dim}), recorder);
    return copy(wanted.places, movedim(places, {-1}, {wanted.dim}), recorder);
  }
  // The results as rows of the operand's length, of which only the first `kept` elements are written.
  const auto as_long = [&](const Tensor& y) { return window(y, x.shape(), y.strides()); };
  const Tensor values = as_long(wanted.values), places = as_long(wanted.places);
  const Tensor* tensors[] = {&x, &values, &places};
  SortArguments arguments{};
  arguments.rows = rows_along(wanted.dim, tensors);
  arguments.kept = wanted.kept;
  arguments.padded = padded_to(arguments.rows.extent);
  if (arguments.padded > kSortBlock)
    return sort_rows(
        {x, wanted.values, &wanted.places, arguments.rows, wanted.kept, wanted.descending, wanted.names},
        recorder);
  const Form form{wanted.descending, uint32_t(x.dtype()), raw_type(x.dtype()), x.dtype() == DType::i64,
                  wanted.names != nullptr};
  Launch launch(recorder);
  arguments.operand = launch.reads(x);
  arguments.values = launch.writes(wanted.values);
  arguments.places = launch.writes(wanted.places);
  if (wanted.names) arguments.order = launch.reads(*wanted.names);
  launch_sort(launch, Sort::kWhole, arguments.padded, form, arguments,
              groups_holding(uint64_t(arguments.rows.count) * arguments.padded, arguments.padded), recorder);
}

// Selects the first elements of each row, then sorts them.
void order_chosen(const Order& wanted, Recorder& recorder) {
  const NoGrad off;
  const Tensor x = side_by_side(wanted.x, wanted.dim);
  const Tensor* const tensors[] = {&x};
  const Rows rows = rows_along(x.ndim() - 1, tensors);
  Shape shape = x.shape();
  shape[x.ndim() - 1] = wanted.kept;
  const Tensor chosen = Tensor::empty(shape, x.dtype(), x.device());
  const Scratch places(recorder, size_t(rows.count) * wanted.kept * sizeof(uint32_t));
  select_first({x, rows, wanted.descending, wanted.kept}, chosen, places, recorder);
  order_rows({movedim(chosen, {-1}, {wanted.dim}), wanted.values, wanted.places, wanted.dim,
              wanted.descending, wanted.kept, &places},
             recorder);
}

template <int dim_at>
void order(const Call& call, bool descending, int64_t kept, Recorder& recorder) {
  const Tensor& x = call.input(0);
  const int dim = normalize_dim(call.op->name, call.integer(dim_at), x.shape());
  const Order wanted{x, call.output(0), call.output(1), dim, descending, uint32_t(kept)};
  constexpr int64_t kFew = 4;  // selecting more than 1 / kFew of a row takes longer than sorting it
  const int64_t length = length_of<dim_at>(call);
  if (length > kSortBlock && kept <= length / kFew) return order_chosen(wanted, recorder);
  order_rows(wanted, recorder);
}

void run_sort(const Call& call, Recorder& recorder) {
  order<0>(call, call.flag(1), length_of<0>(call), recorder);
}
void run_topk(const Call& call, Recorder& recorder) {
  order<1>(call, call.flag(2), call.integer(0), recorder);
}

// Short rows are sorted with their places.
bool supports_sorted(const Call& call) { return supports_sort<0>(call) && length_of<0>(call) > kSortBlock; }
void run_sorted(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const Tensor x = contiguous(call.input(0)), &out = call.output();
  const Tensor* const tensors[] = {&x, &out};
  const int dim = normalize_dim(call.op->name, call.integer(0), x.shape());
  const Rows rows = rows_along(dim, tensors);
  sort_rows({x, out, nullptr, rows, rows.extent, false}, recorder);
}

// The parameters of _kthvalue (runtime/ops/index/sort.cpp).
constexpr int kPlaceAt = 0, kPlaceDimAt = 1, kWhichAt = 2;
// Short rows are sorted.
bool supports_place(const Call& call) {
  const Tensor& x = call.input(0);
  return x.dtype() != DType::f64 && indexable(x) && x.ndim() > 0 &&
         x.size(int(call.integer(kPlaceDimAt))) > kSortBlock;
}
void run_place(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const Tensor x = side_by_side(call.input(0), int(call.integer(kPlaceDimAt)));
  const Tensor* const tensors[] = {&x};
  const Rows rows = rows_along(x.ndim() - 1, tensors);
  select_place({x, rows, false, uint32_t(call.integer(kPlaceAt) + 1)}, uint32_t(call.integer(kWhichAt)),
               call.output(0), call.output(1), recorder);
}

struct SpreadPushConstants {
  uint64_t result, source, index;
  uint32_t count, length, size, inner;
};
static_assert(sizeof(SpreadPushConstants) <= kPushConstantBytes);

bool supports_spread(const Call& call) {
  return item_size(call.input(0).dtype()) <= 8 && !is_complex(call.input(0).dtype()) &&
         indexable(call.output());
}
void run_spread(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const Tensor source = contiguous(call.input(0)), index = contiguous(call.input(1)), &out = call.output();
  const int dim = int(call.integer(0));
  SpreadPushConstants push{};
  push.count = uint32_t(source.numel());
  push.length = uint32_t(source.size(dim));
  push.size = uint32_t(call.integer(1));
  push.inner = 1;
  for (int d = dim + 1; d < source.ndim(); ++d) push.inner *= uint32_t(source.size(d));
  if (push.length < push.size) copy(out, Tensor::number(int64_t(0)), recorder);
  Launch launch(recorder);
  push.result = launch.writes(out);
  push.source = launch.reads(source);
  push.index = launch.reads(index);
  const Visit visit = visit_elements(push.count, recorder);
  launch.run(shaders::Spread{.raw_type = raw_type(out.dtype()), .per_thread = visit.per_thread},
             {visit.groups}, {}, bytes_of(push));
}

}  // namespace

uint32_t padded_to(int64_t length) { return std::max<uint32_t>(2, std::bit_ceil(uint32_t(length))); }

void sort_keys(const KeyRows& rows, Recorder& recorder) {
  const Form form{false, ElementType::kAbsent, ElementType::kI64, true};
  SortArguments arguments{};
  arguments.rows.count = rows.rows;
  arguments.padded = rows.padded;
  const uint32_t length = std::min(rows.padded, kSortBlock);
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
  return {{find_op("sort"), {supports_sort<0>, run_sort}},
          {find_op("_sorted"), {supports_sorted, run_sorted}},
          {find_op("topk"), {supports_sort<1>, run_topk}},
          {find_op("_kthvalue"), {supports_place, run_place}},
          {find_op("_spread"), {supports_spread, run_spread}}};
}

}  // namespace lunagrad::gpu

// Embedding with all options of PyTorch, and embedding_bag, which reduces the rows of each bag of ids to
// their sum, mean or maximum. These have kernels; sums and means of 16-bit floats are compositions of
// embedding and index_add.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "runtime/ops/blank.h"
#include "runtime/ops/dense.h"
#include "runtime/ops/families.h"
#include "runtime/ops/flops.h"
#include "runtime/ops/index/indices.h"
#include "runtime/ops/index/sum_by_index.h"
#include "runtime/ops/reductions/large_means.h"

namespace lunagrad {
namespace {

Tensor whole(int64_t value) { return Tensor::number(value); }

void need_table(const char* op, const Tensor& ids, const Tensor& weight) {
  need_index_type(op, ids);
  if (weight.ndim() != 2) fail(op, ": the weight must have 2 dims (got shape ", weight.shape(), ")");
}

// padding_idx counts from the end if it is negative.
Value padding_row(const char* op, const Value& given, const Tensor& weight) {
  if (!given.present()) return given;
  const int64_t rows = weight.size(0), row = given.i < 0 ? given.i + rows : given.i;
  if (row < 0 || row >= rows) fail(op, ": padding_idx ", given.i, " is out of range for ", rows, " rows");
  return row;
}

// Scales the rows that ids name, in place, to a norm of at most max_norm.
void limit_rows(const char* op, const Tensor& ids, const Tensor& weight, const Value& max_norm, double p) {
  if (!max_norm.present() || ids.numel() == 0) return;
  const NoGrad off;
  const Tensor flat = reshape(ids, {ids.numel()}), rows = index_select(weight, 0, flat);
  if (!(max_norm.f >= 0)) fail(op, ": max_norm must be at least 0 (got ", max_norm.f, ")");
  const Tensor norms = norm(rows, p, {1}, true);
  const Tensor limited =
      where(gt(norms, Tensor::number(max_norm.f)), rows * (max_norm.f / (norms + 1e-7)), rows);
  copy_(weight, index_copy(weight, 0, flat, to(limited, weight.dtype())));
}

// For each of `count` rows: 1 divided by how often its id occurs.
Tensor shares_of(const Tensor& ids, int64_t count) {
  const NoGrad off;
  const Tensor flat = reshape(ids, {ids.numel()}), each = ones(flat.shape(), DType::f32, ids.device());
  const Tensor often = index_add(zeros({count}, DType::f32, ids.device()), 0, flat, each);
  return 1.0 / clamp(often, 1.0, std::numeric_limits<double>::infinity());
}
// The same rows; their gradients are multiplied by `share`, one number for each row.
Tensor shared_gradient(const Tensor& rows, const Tensor& share) {
  const Tensor scaled = rows * to(unsqueeze(share, -1), rows.dtype());
  return rows.detach() + (scaled - scaled.detach());
}

enum EmbeddingParam { kPaddingIdx, kMaxNorm, kNormType, kScaleGrad, kSparse };

Operands embedding_compose(const Call& call) {
  const Tensor &ids = call.input(0), &weight = call.input(1);
  need_table("embedding", ids, weight);
  const Value padding = padding_row("embedding", call.params[kPaddingIdx], weight);
  if (call.flag(kSparse)) fail("embedding: sparse gradients do not exist; leave sparse out");
  limit_rows("embedding", ids, weight, call.params[kMaxNorm], call.real(kNormType));
  const Tensor rows =
      embedding(ids, weight, padding.present() ? std::optional<int64_t>(padding.i) : std::nullopt);
  if (!call.flag(kScaleGrad)) return {rows};
  const Tensor share = index_select(shares_of(ids, weight.size(0)), 0, reshape(ids, {ids.numel()}));
  return {shared_gradient(rows, reshape(share, ids.shape()))};
}
const ParamSpec kMaxNormParam{.name = "max_norm", .kind = ParamKind::real, .optional = true};
const ParamSpec kNormTypeParam{"norm_type", ParamKind::real, 2.0};
const ParamSpec kScaleGradParam{"scale_grad_by_freq", ParamKind::boolean, false};
const ParamSpec kSparseParam{"sparse", ParamKind::boolean, false};
const ParamSpec kPaddingParam{.name = "padding_idx", .kind = ParamKind::integer, .optional = true};

const Op kEmbeddingOptions{
    .name = "_embedding_options",
    .doc =
        "The rows of weight that input names (from 0). The row of padding_idx gets no gradient. Rows longer "
        "than "
        "max_norm are shortened in place first; scale_grad_by_freq divides gradients by the number of uses.",
    .inputs = {{"input"}, {"weight"}},
    .params = {kPaddingParam, kMaxNormParam, kNormTypeParam, kScaleGradParam, kSparseParam},
    .compose = embedding_compose,
    .integer_inputs = 1,
    .family = OpFamily::view,
    .short_form = "embedding"};

// --- embedding_bag ---

enum BagInput { kIds, kWeight, kOffsets, kWeights };
enum BagParam { kBagMaxNorm, kBagNormType, kBagScaleGrad, kBagMode, kBagSparse, kLastOffset, kBagPadding };
enum BagMode : int64_t { kMean, kSum, kMax };

enum SumInput { kSumIds, kSumWeight, kSumStarts, kSumScale };
enum SumParam { kSumMean, kSumPadding };
constexpr int64_t kNoPadding = -1;

// The bag of each id, from 0: the number of offsets up to its position, less 1.
Tensor bags_of(const Tensor& offsets, int64_t ids) {
  const Tensor places = arange(0, double(ids), 1, DType::i64, offsets.device());
  return apply1(*find_op("_searchsorted"), {offsets, places}, {true}) - whole(1);
}
// 1 for each id that counts, else 0.
Tensor counted_ids(const Tensor& ids, int64_t padding, DType type) {
  return padding == kNoPadding ? ones(ids.shape(), type, ids.device()) : to(ne(ids, whole(padding)), type);
}
// The rows of ids, with zeros for padding.
Tensor without_padding(const Tensor& rows, const Tensor& ids, int64_t padding) {
  if (padding == kNoPadding) return rows;
  return where(unsqueeze(ne(ids, whole(padding)), 1), rows, Tensor::number(0.0));
}
// The number of ids of each bag, at least 1, as [bags, 1]. `each` is 1 for an id that counts, else 0.
Tensor bag_sizes(const Tensor& bag, const Tensor& each, int64_t bags) {
  const Tensor sizes = index_add(blank({bags}, each.dtype(), each.device()), 0, bag, each);
  return unsqueeze(clamp(sizes, 1.0, std::numeric_limits<double>::infinity()), 1);
}

// --- the sums or means of bags, for f32 and f64: no rows are copied ---

// Error unless starts begin with 0 and grow to at most the number of ids. Waits for their device.
void check_starts(const Tensor& starts, int64_t ids) {
  const NoGrad off;
  int64_t before = 0, position = 0;
  for (const int64_t at : to(starts, DType::i64).to_vector<int64_t>()) {
    if (at < before || at > ids || (position == 0 && at != 0))
      fail("embedding_bag: offsets must begin with 0 and grow to at most ", ids, " (got ", at,
           " at position ", position + 1, ")");
    before = at;
    ++position;
  }
}

int64_t bag_count(const Call& call) { return call.input(kSumStarts).numel(); }

void bag_sum_shape(Call& call) {
  call.emit({bag_count(call), call.input(kSumWeight).size(1)}, call.input(kSumWeight).dtype());
}
void bag_sum_cpu(const Call& call) {
  const Tensor weight = in_order(call.input(kSumWeight)), starts = in_order(call.input(kSumStarts));
  const Tensor scale = call.has(kSumScale) ? in_order(call.input(kSumScale)) : Tensor();
  const Indices ids("embedding_bag", call.input(kSumIds), 0, weight.size(0));
  const int64_t bags = bag_count(call), width = weight.size(1), count = ids.size();
  const int64_t padding = call.integer(kSumPadding);
  const int64_t* const begin_of = starts.data<int64_t>();
  const auto run = [&]<class T>() {
    const T *const rows = weight.data<T>(), *const factors = scale.defined() ? scale.data<T>() : nullptr;
    T* const out = call.output().data<T>();
    // The mean of element d. If the sum is too large, it is computed again from elements times a power of
    // two.
    const auto mean_of = [&](T sum, int64_t number, int64_t begin, int64_t end, int64_t d) {
      constexpr double kDown = 0x1p-64;
      const T mean = sum / T(number);
      if (std::isfinite(mean)) return mean;
      double small = 0;
      for (int64_t i = begin; i < end; ++i)
        if (ids[i] != padding) small += double(rows[ids[i] * width + d]) * kDown;
      return T(small / double(number) / kDown);
    };
    const int64_t each = std::max<int64_t>(1, count * width / std::max<int64_t>(1, bags));
    parallel_for(bags, iterations_in(kIndexGrain, each), [&](int64_t first, int64_t last) {
      for (int64_t bag = first; bag < last; ++bag) {
        T* const sum = out + bag * width;
        std::fill_n(sum, width, T(0));
        const int64_t end = bag + 1 < bags ? begin_of[bag + 1] : count;
        int64_t number = 0;
        for (int64_t i = begin_of[bag]; i < end; ++i) {
          if (ids[i] == padding) continue;
          ++number;
          const T* const row = rows + ids[i] * width;
          const T factor = factors ? factors[i] : T(1);
          for (int64_t d = 0; d < width; ++d) sum[d] += factor * row[d];
        }
        if (call.flag(kSumMean))
          for (int64_t d = 0; d < width; ++d)
            sum[d] = mean_of(sum[d], std::max<int64_t>(1, number), begin_of[bag], end, d);
      }
    });
  };
  weight.dtype() == DType::f64 ? run.template operator()<double>() : run.template operator()<float>();
}
Operands bag_sum_compose(const Call& call) {
  check_starts(call.input(kSumStarts), call.input(kSumIds).numel());
  Tensor rows = index_select(call.input(kSumWeight), 0, call.input(kSumIds));
  if (call.has(kSumScale)) rows = rows * unsqueeze(call.input(kSumScale), 1);
  const Tensor& ids = call.input(kSumIds);
  const int64_t padding = call.integer(kSumPadding);
  rows = without_padding(rows, ids, padding);
  const Tensor bag = bags_of(call.input(kSumStarts), rows.size(0));
  const Shape shape{bag_count(call), rows.size(1)};
  const auto total = [&](const Scaling& scaling) {
    const Tensor added = scaling(rows);
    return index_add(blank(shape, added.dtype(), added.device()), 0, bag, added);
  };
  if (!call.flag(kSumMean)) return {total([](const Tensor& x) { return x; })};
  return {mean_of_sums(total, bag_sizes(bag, counted_ids(ids, padding, rows.dtype()), shape[0]))};
}
// Each row gets the gradient of its bag; for a mean, divided by the number of ids in the bag.
void bag_sum_vjp(Backward& b) {
  const Tensor ids = b.input(kSumIds), starts = b.input(kSumStarts);
  const int64_t padding = b.integer(kSumPadding);
  const Tensor bag = bags_of(starts, ids.numel());
  Tensor of_bag = b.grad();
  if (b.flag(kSumMean))
    of_bag = of_bag / bag_sizes(bag, counted_ids(ids, padding, of_bag.dtype()), starts.numel());
  const Tensor g = without_padding(index_select(of_bag, 0, bag), ids, padding);
  if (b.needs(kSumWeight)) {
    const Tensor scale = b.input(kSumScale);
    b.set(kSumWeight,
          sum_by_index(b.shape(kSumWeight), 0, ids, scale.defined() ? g * unsqueeze(scale, 1) : g));
  }
  if (b.needs(kSumScale)) b.set(kSumScale, sum(g * index_select(b.input(kSumWeight), 0, ids), {1}));
}
double bag_sum_flops(const Call& call) {
  return (call.has(kSumScale) ? 2 : 1) * elements(call.in[kSumIds]) * double(call.input(kSumWeight).size(1));
}
double bag_sum_bytes(const Call& call) {
  return elements(call.in[kSumIds]) * double(call.output().size(1)) *
             double(item_size(call.output().dtype())) +
         double(call.output().nbytes()) + double(call.input(kSumIds).nbytes());
}
const Op kBagSum{
    .name = "_embedding_bag_sum",
    .doc =
        "The sums, or means, of the rows of weight that ids name between one of starts and the next, each "
        "times its scale, without the ids that are padding.",
    .inputs = {{"ids"}, {"weight"}, {"starts"}, {"scale", true}},
    .params = {{"mean", ParamKind::boolean, false}, {"padding", ParamKind::integer, kNoPadding}},
    .shape = bag_sum_shape,
    .cpu = bag_sum_cpu,
    .vjp = bag_sum_vjp,
    .reads = {{}, {.inputs = 0b1101}, {}, {.inputs = 0b0111}},
    .compose = bag_sum_compose,
    .integer_inputs = 0b101,
    .family = OpFamily::view,
    .flops = {bag_sum_flops, "1 for each element of each row, and 1 for its scale"},
    .bytes = bag_sum_bytes};

// --- the largest elements of bags ---

// The largest element of each column of a bag, and which id it belongs to, or 0 and -1 for a bag that has no
// ids except padding. Among equal elements the first one counts, and NaN before every number.
void bag_max_shape(Call& call) {
  const Shape shape{bag_count(call), call.input(kSumWeight).size(1)};
  call.emit(shape, call.input(kSumWeight).dtype());
  call.emit(shape, DType::i64);
}
void bag_max_cpu(const Call& call) {
  const Tensor weight = in_order(call.input(kSumWeight)), starts = in_order(call.input(kSumStarts));
  const Indices ids("embedding_bag", call.input(kSumIds), 0, weight.size(0));
  const int64_t bags = bag_count(call), width = weight.size(1), count = ids.size(), padding = call.integer(0);
  const int64_t* const begin_of = starts.data<int64_t>();
  visit_dtype(weight.dtype(), [&]<class T>() {
    const T* const rows = weight.data<T>();
    T* const out = call.output(0).data<T>();
    int64_t* const places = call.output(1).data<int64_t>();
    const auto number = [](T x) { return std::conditional_t<sizeof(T) == 8, double, float>(x); };
    const int64_t each = std::max<int64_t>(1, count * width / std::max<int64_t>(1, bags));
    parallel_for(bags, iterations_in(kIndexGrain, each), [&](int64_t first, int64_t last) {
      for (int64_t bag = first; bag < last; ++bag) {
        T* const best = out + bag * width;
        int64_t* const place = places + bag * width;
        std::fill_n(best, width, T(0.0f));
        std::fill_n(place, width, int64_t(-1));
        const int64_t end = bag + 1 < bags ? begin_of[bag + 1] : count;
        for (int64_t i = begin_of[bag]; i < end; ++i) {
          if (ids[i] == padding) continue;
          const T* const row = rows + ids[i] * width;
          for (int64_t d = 0; d < width; ++d) {
            const auto a = number(best[d]), b = number(row[d]);
            if (place[d] < 0 || b > a || (b != b && a == a)) best[d] = row[d], place[d] = i;
          }
        }
      }
    });
  });
}

// Bags of different lengths as rows of a table: the positions of the bag's ids, then repeats of the first
// position.
struct Table {
  Tensor places, used;  // [bags, longest]
};
Table table_of(const Tensor& starts, int64_t ids) {
  const int64_t bags = starts.size(0);
  const Tensor ends =
      cat({narrow(starts, 0, 1, bags - 1), full({1}, Value(ids), DType::i64, starts.device())});
  const Tensor lengths = ends - starts;
  const int64_t longest = std::max<int64_t>(1, max(lengths).item_integer());
  const Tensor steps = arange(0, double(longest), 1, DType::i64, starts.device());
  const Tensor used = lt(unsqueeze(steps, 0), unsqueeze(lengths, 1));
  const Tensor places = where(used, unsqueeze(starts, 1) + unsqueeze(steps, 0), unsqueeze(starts, 1));
  return {minimum(places, whole(std::max<int64_t>(0, ids - 1))), used};
}
Operands bag_max_compose(const Call& call) {
  const Tensor &ids = call.input(kSumIds), &weight = call.input(kSumWeight);
  check_starts(call.input(kSumStarts), ids.numel());
  const Table table = table_of(call.input(kSumStarts), ids.numel());
  const Tensor flat = reshape(table.places, {table.places.numel()});
  const Tensor named = index_select(ids, 0, flat);
  const Tensor used = logical_and(table.used, reshape(ne(named, whole(call.integer(0))), table.used.shape()));
  const Shape shape{used.size(0), used.size(1), weight.size(1)};
  const Tensor spread = where(unsqueeze(used, 2), reshape(index_select(weight, 0, named), shape),
                              Tensor::number(-std::numeric_limits<double>::infinity()));
  const auto [best, column] = max(spread, 1);
  // Where all that are used are -infinity, the first of them counts.
  const Tensor first = unsqueeze(max(to(used, DType::i32), 1).second, 1);
  const Tensor own = where(gather(used, 1, column), column, first), some = any(used, {1}, true);
  return {where(some, best, Tensor::number(0.0)), where(some, gather(table.places, 1, own), whole(-1))};
}

enum MaxGradInput { kMaxGradOf, kMaxGradPlaces, kMaxGradStarts };

// The row of each id gets the gradients of the columns of its bag where it is the largest.
void bag_max_grad_shape(Call& call) {
  call.emit({call.integer(0), call.input(kMaxGradOf).size(1)}, call.input(kMaxGradOf).dtype());
}
Operands bag_max_grad_compose(const Call& call) {
  const Tensor &g = call.input(kMaxGradOf), &places = call.input(kMaxGradPlaces);
  const int64_t ids = call.integer(0);
  const Tensor bag = bags_of(call.input(kMaxGradStarts), ids);
  const Tensor own = unsqueeze(arange(0, double(ids), 1, DType::i64, g.device()), 1);
  return {where(eq(index_select(places, 0, bag), own), index_select(g, 0, bag), Tensor::number(0.0))};
}
void bag_max_grad_vjp(Backward& b) {
  const Tensor places = b.input(kMaxGradPlaces);
  const Tensor chosen = gather(b.grad(), 0, clamp(places, 0.0));
  b.set(kMaxGradOf, where(lt(places, whole(0)), Tensor::number(0.0), chosen));
}
const Op kBagMaxGrad{
    .name = "_embedding_bag_max_grad",
    .doc =
        "For each id the elements of grad in the row of its bag, the ids from one of starts to the next, "
        "where places names the id, else 0.",
    .inputs = {{"grad"}, {"places"}, {"starts"}},
    .params = {{"ids", ParamKind::integer, {}}},
    .shape = bag_max_grad_shape,
    .vjp = bag_max_grad_vjp,
    .reads = {{.inputs = 2}, {}},
    .compose = bag_max_grad_compose,
    .integer_inputs = 0b110,
    .family = OpFamily::view,
    .flops = kMovesData};

void bag_max_vjp(Backward& b) {
  const Tensor ids = b.input(kSumIds);
  const Tensor rows = apply1(kBagMaxGrad, {b.grad(), b.output(1), b.input(kSumStarts)}, {ids.numel()});
  b.set(kSumWeight, sum_by_index(b.shape(kSumWeight), 0, ids, rows));
}
double bag_max_flops(const Call& call) {
  return elements(call.in[kSumIds]) * double(call.input(kSumWeight).size(1));
}
const Op kBagMax{
    .name = "_embedding_bag_max",
    .doc =
        "The largest elements of the rows of weight that ids name between one of starts and the next, "
        "without the ids that are padding; and the position of their id.",
    .inputs = {{"ids"}, {"weight"}, {"starts"}},
    .params = {{"padding", ParamKind::integer, kNoPadding}},
    .shape = bag_max_shape,
    .cpu = bag_max_cpu,
    .vjp = bag_max_vjp,
    .reads = {{}, {.inputs = 0b101, .outputs = 0b10}, {}},
    .compose = bag_max_compose,
    .integer_inputs = 0b101,
    .family = OpFamily::view,
    .flops = {bag_max_flops, "1 for each element of each row, for the comparison"},
    .bytes = bag_sum_bytes};

// The starts of the bags in the flattened ids, as i64 without the last offset. checks_later:
// the kernel of the bags checks them.
Tensor starts_of(const Call& call, int64_t ids, bool checks_later) {
  const NoGrad off;
  const Tensor& given = call.input(kIds);
  if (given.ndim() == 2) {
    if (call.has(kOffsets))
      fail("embedding_bag: offsets are for ids in one dim (got shape ", given.shape(), ")");
    return arange(0, double(given.size(0)), 1, DType::i64, given.device()) * whole(given.size(1));
  }
  if (given.ndim() != 1) fail("embedding_bag: ids must have 1 or 2 dims (got shape ", given.shape(), ")");
  if (!call.has(kOffsets)) fail("embedding_bag: ids in one dim need offsets, the starts of the bags");
  Tensor offsets = call.input(kOffsets);
  if (offsets.ndim() != 1 || (offsets.dtype() != DType::i64 && offsets.dtype() != DType::i32))
    fail("embedding_bag: offsets must be a vector of integers (got ", offsets.dtype(), " of shape ",
         offsets.shape(), ")");
  offsets = to(offsets, DType::i64);
  const int64_t count = offsets.numel();
  if (call.flag(kLastOffset) && count == 0)
    fail("embedding_bag: with include_last_offset an offset is needed");
  if (!checks_later || call.flag(kLastOffset)) check_starts(offsets, ids);
  return call.flag(kLastOffset) ? narrow(offsets, 0, 0, count - 1) : offsets;
}

Operands embedding_bag_compose(const Call& call) {
  const Tensor &given = call.input(kIds), &weight = call.input(kWeight);
  need_table("embedding_bag", given, weight);
  if (!is_floating(weight.dtype()))
    fail("embedding_bag: a floating type is needed (got ", weight.dtype(), ")");
  const BagMode mode = BagMode(call.integer(kBagMode));
  const Value padding = padding_row("embedding_bag", call.params[kBagPadding], weight);
  if (call.flag(kBagSparse)) fail("embedding_bag: sparse gradients do not exist; leave sparse out");
  if (call.has(kWeights)) {
    if (mode != kSum) fail("embedding_bag: per_sample_weights are for mode 'sum'");
    if (!(call.input(kWeights).shape() == given.shape()))
      fail("embedding_bag: per_sample_weights have shape ", call.input(kWeights).shape(), " and ids ",
           given.shape(), "; they must be the same");
  }
  const int64_t count = given.numel();
  const int64_t padding_id = padding.present() ? padding.i : kNoPadding;
  const bool has_kernel = count > 0 && (mode == kMax || !is_16bit_float(weight.dtype()));
  // On the CPU, and where a limit changes rows first, offsets are checked before anything else.
  const bool checks_later = has_kernel && !call.flag(kBagScaleGrad) && !given.device().is_cpu() &&
                            !call.params[kBagMaxNorm].present() && call.has(kOffsets) &&
                            &call.input(kOffsets).device() == &given.device();
  const Tensor starts = starts_of(call, count, checks_later), ids = reshape(given, {count});
  const int64_t bags = starts.size(0);
  limit_rows("embedding_bag", ids, weight, call.params[kBagMaxNorm], call.real(kBagNormType));
  const Shape result{bags, weight.size(1)};
  const Tensor table = count > 0 && call.flag(kBagScaleGrad)
                           ? shared_gradient(weight, shares_of(ids, weight.size(0)))
                           : weight;
  if (has_kernel && bags > 0) {
    if (mode == kMax) return {apply1(kBagMax, {ids, table, starts}, {padding_id})};
    const Tensor scale = call.has(kWeights) ? reshape(call.input(kWeights), {count}) : Tensor();
    if (scale.defined() && scale.dtype() != weight.dtype())
      fail("embedding_bag: weight and per_sample_weights must have one type (got ", weight.dtype(), " and ",
           scale.dtype(), ")");
    return {apply1(kBagSum, {ids, table, starts, scale}, {mode == kMean, padding_id})};
  }
  Tensor rows = embedding(ids, table, padding.present() ? std::optional<int64_t>(padding.i) : std::nullopt);
  if (count == 0 || bags == 0) return {sum(rows, {0}, true) + zeros(result, rows.dtype(), rows.device())};
  if (call.has(kWeights)) rows = rows * unsqueeze(reshape(call.input(kWeights), {count}), 1);
  rows = without_padding(rows, ids, padding_id);
  const Tensor bag = bags_of(starts, count);
  const auto total = [&](const Scaling& scaling) {
    const Tensor added = scaling(rows);
    return index_add(zeros(result, added.dtype(), added.device()), 0, bag, added);
  };
  if (mode == kSum) return {total([](const Tensor& x) { return x; })};
  return {mean_of_sums(total, bag_sizes(bag, counted_ids(ids, padding_id, rows.dtype()), bags))};
}

OpExample bag(const Shape& ids, const Value& mode, const Value& padding = {}, bool weights = false) {
  using Kind = ExampleOperand::Kind;
  OpExample example{.inputs = {{.shape = ids, .low = 0, .high = 5, .kind = Kind::index},
                               {.shape = {5, 3}},
                               {.kind = Kind::absent},
                               weights ? ExampleOperand{.shape = ids} : ExampleOperand{.kind = Kind::absent}},
                    .params = {Value(), 2.0, false, mode, false, false, padding},
                    .types = OpExample::Types::floating};
  return example;
}
OpExample wrong_bag(OpExample example, const char* error) {
  example.error = error;
  return example;
}

const Op kEmbeddingBag{
    .name = "embedding_bag",
    .doc =
        "The sum, mean or largest of the rows of weight that each bag of ids names: a row of input [bags, "
        "ids], or "
        "the ids of a vector from one of offsets to the next.",
    .inputs = {{"input"}, {"weight"}, {"offsets", true}, {"per_sample_weights", true}},
    .params = {kMaxNormParam,
               kNormTypeParam,
               kScaleGradParam,
               {"mode", ParamKind::choice, int64_t(kMean), {"mean", "sum", "max"}},
               kSparseParam,
               {"include_last_offset", ParamKind::boolean, false},
               kPaddingParam},
    .compose = embedding_bag_compose,
    .integer_inputs = 0b101,
    .family = OpFamily::view,
    .order = {"input", "weight", "offsets", "max_norm", "norm_type", "scale_grad_by_freq", "mode", "sparse",
              "per_sample_weights", "include_last_offset", "padding_idx"},
    .examples = {bag({2, 3}, int64_t(kMean)), bag({2, 3}, int64_t(kSum), {}, true),
                 bag({3, 2}, int64_t(kMax)), bag({3, 4}, int64_t(kMean), 2), bag({3, 4}, int64_t(kSum), -4),
                 bag({3, 2}, int64_t(kMax), 1), wrong_bag(bag({4}, int64_t(kSum)), "need offsets"),
                 wrong_bag(bag({2, 2}, int64_t(kMean), {}, true), "are for mode 'sum'"),
                 wrong_bag(bag({2, 2}, int64_t(kMean), 5), "padding_idx 5 is out of range for 5 rows")}};

}  // namespace

std::span<const Op* const> embedding_ops() {
  static const Op* const ops[] = {&kEmbeddingOptions, &kEmbeddingBag, &kBagSum, &kBagMax, &kBagMaxGrad};
  return ops;
}

}  // namespace lunagrad

// Ops that read or write at indices held in a tensor: index_select, index_add, gather, scatter_add,
// embedding, masked_fill, masked_select, nonzero, one_hot. Indices are i64, i32 or u8 and count from 0, also
// in error texts. An index out of range is an error before anything is written. Sums at equal indices are
// added in the order of the index for any number of threads: threads write to different positions.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <numeric>

#include "runtime/batching/batched.h"
#include "runtime/core/script_numbers.h"
#include "runtime/ops/blank.h"
#include "runtime/ops/dense.h"
#include "runtime/ops/flops.h"
#include "runtime/ops/index/indices.h"
#include "runtime/ops/index/listed.h"
#include "runtime/ops/index/sum_by_index.h"

namespace lunagrad {
namespace {

// --- index_select, index_add ---

// Copies the rows of `bytes` that the index names, for each outer position. Rows of the size of a word are
// copied as words.
void copy_rows(void* out, const void* in, const Split& from, size_t bytes, const Indices& index) {
  const int64_t count = index.size(), grain = iterations_in(kIndexGrain, from.inner);
  const auto walk = [&](auto&& move) {
    parallel_for(from.outer * count, grain, [&](int64_t begin, int64_t end) {
      int64_t outer = begin / count, k = begin % count;
      for (int64_t i = begin; i < end; ++i) {
        move(i, outer * from.size + index[k]);
        if (++k == count) k = 0, ++outer;
      }
    });
  };
  const auto words = [&]<class Word>(Word*) {
    walk([to = static_cast<Word*>(out), source = static_cast<const Word*>(in)](int64_t i, int64_t row) {
      to[i] = source[row];
    });
  };
  if (bytes == 8) return words(static_cast<uint64_t*>(nullptr));
  if (bytes == 4) return words(static_cast<uint32_t*>(nullptr));
  if (bytes == 2) return words(static_cast<uint16_t*>(nullptr));
  if (bytes == 16) return words(static_cast<PairOfWords*>(nullptr));
  if (bytes == 32) return words(static_cast<std::array<PairOfWords, 2>*>(nullptr));
  walk([=, to = static_cast<char*>(out), source = static_cast<const char*>(in)](int64_t i, int64_t row) {
    std::memcpy(to + size_t(i) * bytes, source + size_t(row) * bytes, bytes);
  });
}

void index_select_shape(Call& call) {
  const Tensor &x = call.input(0), &index = call.input(1);
  need_index_type("index_select", index);
  if (index.ndim() > 1) fail("index_select: the index must have one dim (got shape ", index.shape(), ")");
  Shape shape = x.shape();
  const int dim = dim_of(call);
  if (!shape.empty())
    shape[dim] = index.numel();
  else if (index.numel() != 1)
    fail("index_select: a scalar tensor has one element (got ", index.numel(), " indices)");
  call.emit(shape, x.dtype());
}
void index_select_cpu(const Call& call) {
  const Tensor x = in_order(call.input(0)), &out = call.output();
  const int dim = dim_of(call);
  const Split from(with_one_dim(x.shape()), dim);
  const Indices index("index_select", call.input(1), dim, from.size);
  copy_rows(out.raw(), x.raw(), from, size_t(from.inner) * item_size(x.dtype()), index);
}
void index_select_vjp(Backward& b) { b.set(0, sum_by_index(b.shape(0), dim_of(b), b.input(1), b.grad())); }
// Of the input, only the selected elements are read.
double selected_bytes(const Call& call) {
  return 2 * double(call.output().nbytes()) + double(call.input(1).nbytes());
}
const Op kIndexSelect{.name = "index_select",
                      .doc = "The positions of dim that index (from 0) names, in its order.",
                      .inputs = {{"input"}, {"index"}},
                      .params = {{"dim", ParamKind::dim, {}}},
                      .shape = index_select_shape,
                      .cpu = index_select_cpu,
                      .vjp = index_select_vjp,
                      .reads = {{.inputs = 2}},
                      .integer_inputs = 2,
                      .complex = true,
                      .family = OpFamily::view,
                      .flops = kMovesData,
                      .bytes = selected_bytes,
                      .order = {"input", "dim", "index"}};

// Where the index names no position twice, the gradient needs no sums.
void select_once_vjp(Backward& b) {
  const Tensor g = b.grad();
  b.set(0, index_copy(blank(b.shape(0), g.dtype(), g.device()), dim_of(b), b.input(1), g));
}
const Op kSelectOnce{.name = "_select_once",
                     .doc = "index_select with an index that names each position once at most.",
                     .inputs = {{"input"}, {"index"}},
                     .params = {{"dim", ParamKind::dim, {}}},
                     .shape = index_select_shape,
                     .cpu = index_select_cpu,
                     .vjp = select_once_vjp,
                     .reads = {{.inputs = 2}},
                     .integer_inputs = 2,
                     .complex = true,
                     .family = OpFamily::view,
                     .flops = kMovesData,
                     .bytes = selected_bytes};

void index_add_shape(Call& call) {
  const Tensor &x = call.input(0), &index = call.input(1), &source = call.input(2);
  need_index_type("index_add", index);
  if (index.ndim() > 1) fail("index_add: the index must have one dim (got shape ", index.shape(), ")");
  if (source.dtype() != x.dtype())
    fail("index_add: the source is ", source.dtype(), ", the tensor ", x.dtype());
  Shape shape = x.shape();
  if (!shape.empty()) shape[dim_of(call)] = index.numel();
  if (!(source.shape() == shape))
    fail("index_add: the source has shape ", source.shape(), " where ", shape, " is needed for ",
         index.numel(), " indices into shape ", x.shape());
  call.emit(x.shape(), x.dtype());
}
// Integers wrap around.
template <class T>
void add_to(T& target, T x) {
  if constexpr (std::is_same_v<T, bool>)
    target = target || x;
  else if constexpr (std::is_arithmetic_v<T> || is_complex_v<T>)
    target += x;
}
void index_add_cpu(const Call& call) {
  const Tensor& out = call.output();
  const Tensor& x = call.input(0);
  const Tensor source = in_order(call.input(2));
  const int dim = dim_of(call);
  const Split into(with_one_dim(x.shape()), dim);
  const Indices index("index_add", call.input(1), dim, into.size);
  copy_whole(out, x);
  visit_any_dtype(out.dtype(), [&]<class T>() {
    using Factor = std::conditional_t<std::is_integral_v<T> && !std::is_same_v<T, bool>, int64_t, Part<T>>;
    const auto alpha = T(convert<Factor>(call.real(1)));
    const T* from = source.data<T>();
    T* to = out.data<T>();
    for_indexed_rows(into, index, from, into.inner * int64_t(sizeof(T)),
                     [&](int64_t row, int64_t k, int64_t first, int64_t n) {
                       T* const target = to + row * into.inner + first;
                       const T* const part = from + k * into.inner + first;
                       for (int64_t i = 0; i < n; ++i)
                         if constexpr (std::is_arithmetic_v<T> || is_complex_v<T>)
                           add_to(target[i], T(alpha * part[i]));
                     });
  });
}
void index_add_vjp(Backward& b) {
  const Tensor g = b.grad();
  if (b.needs(0)) b.set(0, g);
  if (!b.needs(2)) return;
  const Tensor part = index_select(g, dim_of(b), b.input(1));
  b.set(2, b.real(1) == 1 ? part : part * b.real(1));
}
const Op kIndexAdd{.name = "index_add",
                   .doc = "input with alpha source added at the positions of dim that index (from 0) names.",
                   .inputs = {{"input"}, {"index"}, {"source"}},
                   .params = {{"dim", ParamKind::dim, {}}, {"alpha", ParamKind::real, 1.0}},
                   .shape = index_add_shape,
                   .cpu = index_add_cpu,
                   .vjp = index_add_vjp,
                   .reads = {{}, {}, {.inputs = 2}},
                   .half_through_f32 = true,
                   .integer_inputs = 2,
                   .complex = true,
                   .in_place = InPlaceForm::writes,
                   .family = OpFamily::view,
                   .flops = {for_input<2, 2>, "2 for each element of the source"},
                   .order = {"input", "dim", "index", "source", "alpha"}};

// --- gather, scatter_add ---

void gather_shape(Call& call) {
  const Tensor &x = call.input(0), &index = call.input(1);
  need_index_type("gather", index);
  check_lanes("gather", "a tensor", with_one_dim(x.shape()), with_one_dim(index.shape()), dim_of(call));
  call.emit(index.shape(), x.dtype());
}
// Reads `count` elements of each row of `size`, whose indices are checked just before; false if one is wrong.
template <class Word>
bool gather_in_rows(const Indices& indices, int64_t size, int64_t count, const Word* from, Word* to) {
  std::atomic<bool> good = true;
  if (count == 0) return true;
  parallel_for(indices.size() / count, iterations_in(kIndexGrain, count), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const int64_t* const at = indices.data() + row * count;
      const Word* const values = from + row * size;
      Word* const results = to + row * count;
      if (!all_below(at, count, size))
        good = false;
      else
        for (int64_t i = 0; i < count; ++i) results[i] = values[at[i]];
    }
  });
  return good;
}

void gather_cpu(const Call& call) {
  const Tensor x = in_order(call.input(0));
  const Tensor &index = call.input(1), &out = call.output();
  const Shape whole = with_one_dim(x.shape());
  const int dim = dim_of(call);
  if (const Tensor rows = index_of_rows(index, whole, dim); rows.defined()) {
    const Split from(whole, dim);
    const Indices chosen("gather", rows, dim, from.size, false, from.inner);
    return copy_rows(out.raw(), x.raw(), from, size_t(from.inner) * item_size(x.dtype()), chosen);
  }
  const Shape lanes = with_one_dim(index.shape());
  bool same_rows = dim == whole.size() - 1;
  for (int d = 0; d < dim; ++d) same_rows &= lanes[d] == whole[d];
  const auto move = [&]<class Word>(Word*) {
    const Word* from = static_cast<const Word*>(x.raw());
    Word* to = static_cast<Word*>(out.raw());
    if (same_rows && whole[dim] > 0) {
      if (gather_in_rows(Indices(index), whole[dim], lanes[dim], from, to)) return;
      Indices("gather", index, dim, whole[dim]);  // says which index is wrong
    }
    const Indices indices("gather", index, dim, whole[dim]);
    const int64_t stride = contiguous_strides(whole)[dim];
    for_lanes_in_parallel(
        lanes, whole, dim, [&](int64_t i, int64_t lane) { to[i] = from[lane + indices[i] * stride]; }, true);
  };
  visit_word(x.dtype(), move);
}
void gather_vjp(Backward& b) {
  const Tensor g = b.grad();
  b.set(0, scatter_add(blank(b.shape(0), g.dtype(), g.device()), dim_of(b), b.input(1), g));
}
const Op kGather{.name = "gather",
                 .doc = "The elements along dim that index (from 0) names, in the shape of index.",
                 .inputs = {{"input"}, {"index"}},
                 .params = {{"dim", ParamKind::dim, {}}},
                 .shape = gather_shape,
                 .cpu = gather_cpu,
                 .vjp = gather_vjp,
                 .reads = {{.inputs = 2}},
                 .integer_inputs = 2,
                 .complex = true,
                 .family = OpFamily::view,
                 .flops = kMovesData,
                 .bytes = selected_bytes,
                 .order = {"input", "dim", "index"}};

void scatter_add_shape(Call& call) {
  const Tensor &x = call.input(0), &index = call.input(1), &source = call.input(2);
  need_index_type("scatter_add", index);
  if (source.dtype() != x.dtype())
    fail("scatter_add: the source is ", source.dtype(), ", the tensor ", x.dtype());
  check_scattered(call, "scatter_add");
  call.emit(x.shape(), x.dtype());
}
void scatter_add_cpu(const Call& call) {
  const Tensor &out = call.output(), &x = call.input(0);
  // The source may be larger than the index; only the part of the shape of the index counts.
  const Tensor& index = call.input(1);
  const Tensor source = in_order(corner_of(call.input(2), index.shape()));
  const Shape whole = with_one_dim(x.shape());
  const int dim = dim_of(call);
  const Tensor rows = index_of_rows(index, whole, dim);
  const Split into(whole, dim);
  const Indices indices("scatter_add", rows.defined() ? rows : index, dim, into.size, false,
                        rows.defined() ? into.inner : 1);
  const int64_t stride = contiguous_strides(whole)[dim];
  copy_whole(out, x);
  visit_any_dtype(out.dtype(), [&]<class T>() {
    const T* from = source.data<T>();
    T* to = out.data<T>();
    if (rows.defined()) {
      for_indexed_rows(into, indices, from, into.inner * int64_t(sizeof(T)),
                       [&](int64_t row, int64_t k, int64_t first, int64_t n) {
                         T* const target = to + row * into.inner + first;
                         const T* const part = from + k * into.inner + first;
                         for (int64_t i = 0; i < n; ++i) add_to(target[i], part[i]);
                       });
      return;
    }
    for_lanes_in_parallel(with_one_dim(index.shape()), whole, dim,
                          [&](int64_t i, int64_t lane) { add_to(to[lane + indices[i] * stride], from[i]); });
  });
}
void scatter_add_vjp(Backward& b) {
  const Tensor g = b.grad();
  if (b.needs(0)) b.set(0, g);
  if (!b.needs(2)) return;
  const Tensor index = b.input(1);
  b.set(2, in_corner(gather(g, dim_of(b), index), b.shape(2)));
}
const Op kScatterAdd{.name = "scatter_add",
                     .doc = "input with each element of src added along dim where index (from 0) says.",
                     .inputs = {{"input"}, {"index"}, {"src"}},
                     .params = {{"dim", ParamKind::dim, {}}},
                     .shape = scatter_add_shape,
                     .cpu = scatter_add_cpu,
                     .vjp = scatter_add_vjp,
                     .reads = {{}, {}, {.inputs = 2}},
                     .half_through_f32 = true,
                     .integer_inputs = 2,
                     .complex = true,
                     .in_place = InPlaceForm::writes,
                     .family = OpFamily::view,
                     .flops = {for_input<1, 2>, "1 for each element of the source"},
                     .order = {"input", "dim", "index", "src"}};

// --- embedding ---

void embedding_shape(Call& call) {
  const Tensor &ids = call.input(0), &weight = call.input(1);
  need_index_type("embedding", ids);
  if (weight.ndim() != 2) fail("embedding: the weight must have 2 dims (got shape ", weight.shape(), ")");
  if (call.params[0].present() && (call.integer(0) < 0 || call.integer(0) >= weight.size(0)))
    fail("embedding: padding_idx ", call.integer(0), " is out of range for ", weight.size(0), " rows");
  Shape shape = ids.shape();
  shape.push_back(weight.size(1));
  call.emit(shape, weight.dtype());
}
void embedding_cpu(const Call& call) {
  const Tensor weight = in_order(call.input(1));
  const Indices ids("embedding", call.input(0), 0, weight.size(0));
  copy_rows(call.output().raw(), weight.raw(), Split(weight.shape(), 0),
            size_t(weight.size(1)) * item_size(weight.dtype()), ids);
}
// The row of padding_idx gets no gradient.
void embedding_vjp(Backward& b) {
  Tensor g = b.grad();
  const Tensor ids = b.input(0);
  const Value& padding = b.node().attributes->params[0];
  if (padding.present()) {
    const Tensor counts = unsqueeze(ne(ids, Tensor::number(padding.i)), ids.ndim());
    g = where(counts, g, Tensor::number(0.0));
  }
  const Shape rows{ids.numel(), b.shape(1)[1]};
  b.set(1, sum_by_index(b.shape(1), 0, reshape(ids, {ids.numel()}), reshape(g, rows)));
}
double embedding_bytes(const Call& call) {
  return 2 * double(call.output().nbytes()) + double(call.input(0).nbytes());
}
const Op kEmbedding{.name = "embedding",
                    .doc = "The rows of weight that input names (from 0); row padding_idx gets no gradient.",
                    .inputs = {{"input"}, {"weight"}},
                    .params = {{.name = "padding_idx", .kind = ParamKind::integer, .optional = true}},
                    .shape = embedding_shape,
                    .cpu = embedding_cpu,
                    .vjp = embedding_vjp,
                    .reads = {{}, {.inputs = 1}},
                    .integer_inputs = 1,
                    .complex = true,
                    .family = OpFamily::view,
                    .flops = kMovesData,
                    .bytes = embedding_bytes};

// --- masks ---

void need_mask(const char* op, const Tensor& mask) {
  if (mask.dtype() != DType::boolean) fail(op, ": the mask must be bool (got ", mask.dtype(), ")");
}

Operands masked_fill_compose(const Call& call) {
  const Tensor &x = call.input(0), &mask = call.input(1);
  need_mask("masked_fill", mask);
  const Value& value = call.params[0];
  const bool real = value.kind == Value::Kind::real;
  if (real && !is_differentiable(x.dtype()))
    fail("masked_fill: ", value.f, " cannot be written into a tensor of type ", x.dtype());
  check_converts("masked_fill", x.dtype(), value);
  if (!broadcasts_to(mask.shape(), x.shape()))
    fail("masked_fill: a mask of shape ", mask.shape(), " does not broadcast to ", x.shape());
  const int64_t whole = value.kind == Value::Kind::boolean ? int64_t(value.b) : value.i;
  return {to(where(mask, real ? Tensor::number(value.f) : Tensor::number(whole), x), x.dtype())};
}
const Op kMaskedFill{.name = "masked_fill",
                     .doc = "input with value where mask holds.",
                     .inputs = {{"input"}, {"mask"}},
                     .params = {{"value", ParamKind::number, {}}},
                     .compose = masked_fill_compose,
                     .integer_inputs = 2,
                     .in_place = InPlaceForm::writes,
                     .family = OpFamily::view};

// The elements as contiguous booleans on the CPU, where they are needed to know the shape of the result.
Tensor truth_of(const Tensor& x) {
  const NoGrad off;
  return in_order(to(to(x, DType::boolean), cpu_device()));
}

// Calls f(i) for each of the n booleans that is true. Eight are tested together: bit 8 i of a word is boolean
// i.
static_assert(std::endian::native == std::endian::little);
template <class F>
void for_each_true(const bool* truth, int64_t n, F&& f) {
  int64_t i = 0;
  for (uint64_t word; i + 8 <= n; i += 8) {
    std::memcpy(&word, truth + i, 8);
    for (; word != 0; word &= word - 1) f(i + std::countr_zero(word) / 8);
  }
  for (; i < n; ++i)
    if (truth[i]) f(i);
}

constexpr int64_t kTruthPiece = 1 << 15;  // booleans of one work item

// The number of true elements before each piece, and in all pieces.
std::vector<int64_t> counts_before(const Tensor& truth) {
  const int64_t n = truth.numel(), pieces = (n + kTruthPiece - 1) / kTruthPiece;
  std::vector<int64_t> before(size_t(pieces) + 1, 0);
  parallel_for(pieces, 1, [&](int64_t begin, int64_t end) {
    for (int64_t piece = begin; piece < end; ++piece) {
      const bool* const at = truth.data<bool>() + piece * kTruthPiece;
      before[size_t(piece) + 1] = std::count(at, at + std::min(kTruthPiece, n - piece * kTruthPiece), true);
    }
  });
  std::partial_sum(before.begin(), before.end(), before.begin());
  return before;
}
void nonzero_shape(Call& call) {
  const Tensor& x = call.input(0);
  context().check_may_read();
  call.emit({counts_before(truth_of(x)).back(), int64_t(x.ndim())}, DType::i64);
}
void nonzero_cpu(const Call& call) {
  const Tensor &x = call.input(0), truth = truth_of(x);
  const std::vector<int64_t> before = counts_before(truth);
  const int dims = x.ndim();
  const int64_t n = truth.numel(), last = dims > 0 ? x.size(-1) : 1;
  parallel_for(int64_t(before.size()) - 1, 1, [&](int64_t begin, int64_t end) {
    int64_t* to = call.output().data<int64_t>() + before[size_t(begin)] * dims;
    const int64_t stop = std::min(n, end * kTruthPiece);
    // Row by row of the last dim; a piece may begin and end within a row.
    for (int64_t i = begin * kTruthPiece, next; i < stop; i = next) {
      const int64_t row = i / last, column = i % last;
      next = std::min(stop, i - column + last);
      Dims position(dims, 0);
      for (int64_t d = dims - 2, rest = row; d >= 0; rest /= x.size(int(d)), --d)
        position[int(d)] = rest % x.size(int(d));
      for_each_true(truth.data<bool>() + i, next - i, [&](int64_t j) {
        for (int d = 0; d + 1 < dims; ++d) *to++ = position[d];
        if (dims > 0) *to++ = column + j;
      });
    }
  });
}
// On other devices pieces are counted first, and one number is copied to the CPU: the size of the result.
void nonzero_before_shape(Call& call) { call.emit({listed_pieces(call.input(0)) + 1}, DType::i64); }
void nonzero_before_cpu(const Call& call) {
  const Tensor truth = truth_of(call.input(0));
  int64_t* const before = call.output().data<int64_t>();
  before[0] = 0;
  for (int64_t piece = 0; piece + 1 < call.output().numel(); ++piece) {
    const bool* const at = truth.data<bool>() + piece * kListedPiece;
    before[piece + 1] =
        before[piece] +
        std::count(at, at + std::min(kListedPiece, truth.numel() - piece * kListedPiece), true);
  }
}
const Op kNonzeroBefore{.name = "_nonzero",
                        .doc = "How many elements before each piece of input are not zero, and in all of it.",
                        .inputs = {{"input"}},
                        .shape = nonzero_before_shape,
                        .cpu = nonzero_before_cpu,
                        .complex = true,
                        .family = OpFamily::other,
                        .flops = kOnePerOperand};

void nonzero_at_shape(Call& call) {
  const Tensor& x = call.input(0);
  const int64_t count = listed_count(call.op->name, x, call.input(1));
  call.emit({count, int64_t(x.ndim())}, DType::i64);
}
const Op kNonzeroAt{.name = "_nonzero_at",
                    .doc = "nonzero of input, from its _nonzero.",
                    .inputs = {{"input"}, {"before"}},
                    .shape = nonzero_at_shape,
                    .cpu = nonzero_cpu,
                    .integer_inputs = 2,
                    .complex = true,
                    .family = OpFamily::view,
                    .flops = kMovesData};
Operands nonzero_compose(const Call& call) {
  const NoGrad off;
  const Tensor& x = call.input(0);
  return {apply1(kNonzeroAt, {x, apply1(kNonzeroBefore, {x})})};
}
bool lists_on_device(const Call& call) { return !call.device().is_cpu() && call.input(0).numel() > 0; }

const Op kNonzero{.name = "nonzero",
                  .doc =
                      "The indices (from 0) of the elements that are not zero, one row for each. "
                      "nonzero(x, {as_tuple = true}) and where(x) give a tensor of them for each dim.",
                  .inputs = {{"input"}},
                  .shape = nonzero_shape,
                  .cpu = nonzero_cpu,
                  .compose = nonzero_compose,
                  .composed = lists_on_device,
                  .complex = true,
                  .family = OpFamily::view,
                  .flops = kMovesData};

Operands masked_select_compose(const Call& call) {
  const Tensor &x = call.input(0), &mask = call.input(1);
  need_mask("masked_select", mask);
  const Shape shape = broadcast_shapes("masked_select", x.shape(), mask.shape());
  const Shape flat{numel(shape)};
  const Tensor places = nonzero(reshape(expand(mask, shape), flat));
  return {apply1(kSelectOnce, {reshape(expand(x, shape), flat), reshape(places, {places.size(0)})}, {0})};
}
const Op kMaskedSelect{.name = "masked_select",
                       .doc = "A vector of the elements of input where mask holds.",
                       .inputs = {{"input"}, {"mask"}},
                       .compose = masked_select_compose,
                       .integer_inputs = 2,
                       .family = OpFamily::view};

// --- one_hot ---

void one_hot_shape(Call& call) {
  const Tensor& ids = call.input(0);
  need_index_type("one_hot", ids);
  int64_t classes = call.integer(0);
  if (classes < -1 || classes == 0)
    fail("one_hot: num_classes must be at least 1, or -1 (got ", classes, ")");
  if (classes == -1) {
    if (ids.numel() == 0)
      fail("one_hot: an empty tensor does not tell the number of classes; give num_classes");
    const NoGrad off;
    classes = max(ids).item_integer() + 1;
  }
  Shape shape = ids.shape();
  shape.push_back(std::max<int64_t>(classes, 1));
  call.emit(shape, DType::i64);
}
void one_hot_cpu(const Call& call) {
  const Tensor& out = call.output();
  const int64_t classes = out.size(-1);
  const Indices ids("one_hot", call.input(0), out.ndim() - 1, classes);
  int64_t* to = out.data<int64_t>();
  parallel_for(ids.size(), iterations_in(kIndexGrain, classes), [&](int64_t begin, int64_t end) {
    std::memset(to + begin * classes, 0, size_t((end - begin) * classes) * sizeof(int64_t));
    for (int64_t i = begin; i < end; ++i) to[i * classes + ids[i]] = 1;
  });
}
const Op kOneHot{.name = "one_hot",
                 .doc = "1 at the position that input names (from 0) in a new last dim, 0 elsewhere.",
                 .inputs = {{"input"}},
                 .params = {{"num_classes", ParamKind::integer, -1}},
                 .shape = one_hot_shape,
                 .cpu = one_hot_cpu,
                 .integer_inputs = 1,
                 .family = OpFamily::view,
                 .flops = kMovesData};

}  // namespace

Tensor index_select(const Tensor& x, int dim, const Tensor& index) {
  return apply1(kIndexSelect, {x, index}, {dim});
}
Tensor index_add(const Tensor& x, int dim, const Tensor& index, const Tensor& source, double alpha) {
  return apply1(kIndexAdd, {x, index, source}, {dim, alpha});
}
// Sums are written into the zeros, which nothing else refers to, unless the call is recorded or batched, or
// there is no kernel for the type.
Tensor sum_by_index(const Shape& shape, int dim, const Tensor& index, const Tensor& rows) {
  const Tensor sums = zeros(shape, rows.dtype(), rows.device());
  if (context().grad_enabled || batching_in_use || is_16bit_float(rows.dtype()))
    return index_add(sums, dim, index, rows);
  return apply_in_place(kIndexAdd, {sums, index, rows}, {dim, 1.0});
}
Tensor gather(const Tensor& x, int dim, const Tensor& index) { return apply1(kGather, {x, index}, {dim}); }
Tensor scatter_add(const Tensor& x, int dim, const Tensor& index, const Tensor& source) {
  return apply1(kScatterAdd, {x, index, source}, {dim});
}
Tensor embedding(const Tensor& ids, const Tensor& weight, std::optional<int64_t> padding_idx) {
  return apply1(kEmbedding, {ids, weight}, {padding_idx ? Value(*padding_idx) : Value()});
}
Tensor masked_fill(const Tensor& x, const Tensor& mask, const Value& value) {
  return apply1(kMaskedFill, {x, mask}, {value});
}
Tensor masked_select(const Tensor& x, const Tensor& mask) { return apply1(kMaskedSelect, {x, mask}); }
Tensor nonzero(const Tensor& x) { return apply1(kNonzero, {x}); }
Tensor one_hot(const Tensor& ids, int64_t num_classes) { return apply1(kOneHot, {ids}, {num_classes}); }

std::span<const Op* const> index_ops() {
  static constexpr const Op* ops[] = {&kIndexSelect, &kSelectOnce,    &kIndexAdd,   &kGather,
                                      &kScatterAdd,  &kEmbedding,     &kMaskedFill, &kMaskedSelect,
                                      &kNonzero,     &kNonzeroBefore, &kNonzeroAt,  &kOneHot};
  return ops;
}

}  // namespace lunagrad

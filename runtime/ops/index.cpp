// Ops that read or write at indices held in a tensor: index_select, index_add, gather, scatter_add,
// embedding, masked_fill, masked_select, nonzero, one_hot. Indices are i64, i32 or u8 and count from 0, in
// error texts too; one out of range is an error before anything is written. Sums at equal indices are taken
// in the order of the index, whatever the number of threads: the work is split across positions that never
// meet.
#include <algorithm>
#include <atomic>
#include <cstring>

#include "runtime/cpu/copy.h"
#include "runtime/cpu/parallel.h"
#include "runtime/cpu/rows.h"
#include "runtime/ops/families.h"

namespace lunagrad {
namespace {

constexpr int64_t kGrain = 1 << 15;  // elements moved in about 20 µs

void need_index_type(const char* op, const Tensor& index) {
  const DType t = index.dtype();
  if (t != DType::i64 && t != DType::i32 && t != DType::u8)
    fail(op, ": indices must be i64, i32 or u8 (got ", t, ")");
}

// A contiguous copy where x is not contiguous, for kernels that want plain rows.
Tensor dense(const Tensor& x) {
  if (x.is_contiguous()) return x;
  Tensor copy = Tensor::empty(x.shape(), x.dtype());
  copy_strided(copy.raw(), copy.dtype(), copy.strides(), x.raw(), x.dtype(), x.strides(), x.shape());
  return copy;
}

// The indices in order as i64, each found to be below `size`.
class Indices {
 public:
  Indices(const char* op, const Tensor& index, int dim, int64_t size) : memory_(index) {
    if (!index.is_contiguous() || index.dtype() != DType::i64) {
      memory_ = Tensor::empty(index.shape(), DType::i64);
      copy_strided(memory_.raw(), DType::i64, memory_.strides(), index.raw(), index.dtype(), index.strides(),
                   index.shape());
    }
    values_ = memory_.data<int64_t>();
    std::atomic<bool> good = true;
    parallel_for(this->size(), kGrain, [&](int64_t begin, int64_t end) {
      bool all = true;
      for (int64_t i = begin; i < end; ++i) all &= uint64_t(values_[i]) < uint64_t(size);
      if (!all) good = false;
    });
    for (int64_t i = 0; !good && i < this->size(); ++i)
      if (values_[i] < 0 || values_[i] >= size)
        fail(op, ": index ", values_[i], " at position ", i + 1, " is out of range for dim ", dim + 1,
             " of size ", size, " (indices count from 0)");
  }
  int64_t size() const { return memory_.numel(); }
  int64_t operator[](int64_t i) const { return values_[i]; }

 private:
  Tensor memory_;
  const int64_t* values_;
};

int dim_of(const Call& call) { return normalize_dim(call.op->name, call.integer(0), call.input(0).shape()); }
int dim_of(const Backward& b) { return normalize_dim(b.node().op->name, b.integer(0), b.shape(0)); }

// --- index_select, index_add ---

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
  const Tensor x = dense(call.input(0)), &out = call.output();
  const int dim = dim_of(call);
  const Split from(with_one_dim(x.shape()), dim);
  const Indices index("index_select", call.input(1), dim, from.size);
  const size_t bytes = size_t(from.inner) * item_size(x.dtype());
  const char* source = static_cast<const char*>(x.raw());
  char* to = static_cast<char*>(out.raw());
  const int64_t count = index.size();
  parallel_for(from.outer * count, std::max<int64_t>(1, kGrain / from.inner),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i)
                   std::memcpy(to + size_t(i) * bytes,
                               source + size_t(i / count * from.size + index[i % count]) * bytes, bytes);
               });
}
void index_select_vjp(Backward& b) {
  const Tensor g = b.grad();
  b.set(0, index_add(zeros(b.shape(0), g.dtype(), g.device()), dim_of(b), b.input(1), g));
}
const Op kIndexSelect{.name = "index_select",
                      .doc = "The positions of a dim that the index (from 0) names, in its order.",
                      .inputs = {{"input"}, {"index"}},
                      .params = {{"dim", ParamKind::dim, {}}},
                      .shape = index_select_shape,
                      .cpu = index_select_cpu,
                      .vjp = index_select_vjp,
                      .reads = {{.inputs = 2}},
                      .integer_inputs = 2};

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
// Split by outer position and by runs of columns, which no two threads share.
void index_add_cpu(const Call& call) {
  const Tensor& out = call.output();
  const Tensor x = dense(call.input(0)), source = dense(call.input(2));
  const int dim = dim_of(call);
  const Split into(with_one_dim(x.shape()), dim);
  const Indices index("index_add", call.input(1), dim, into.size);
  std::memcpy(out.raw(), x.raw(), out.nbytes());
  const int64_t count = index.size();
  // As many runs as keep the threads busy: what a run is does not change the sums.
  const int64_t wanted = std::max<int64_t>(1, 2 * thread_count() / into.outer);
  const int64_t columns = std::max((into.inner + wanted - 1) / wanted, std::min<int64_t>(into.inner, 64));
  const int64_t runs = (into.inner + columns - 1) / columns;
  if (count == 0) return;
  visit_dtype(out.dtype(), [&]<class T>() {
    const T alpha = convert<T>(call.real(1));
    const T* from = source.data<T>();
    T* to = out.data<T>();
    parallel_for(into.outer * runs, std::max<int64_t>(1, kGrain / (count * columns)),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t task = begin; task < end; ++task) {
                     const int64_t outer = task / runs, first = task % runs * columns;
                     const int64_t n = std::min(columns, into.inner - first);
                     for (int64_t k = 0; k < count; ++k) {
                       T* target = to + (outer * into.size + index[k]) * into.inner + first;
                       const T* part = from + (outer * count + k) * into.inner + first;
                       for (int64_t i = 0; i < n; ++i) {
                         if constexpr (std::is_same_v<T, bool>)
                           target[i] = target[i] || (part[i] && alpha);
                         else if constexpr (std::is_arithmetic_v<T>)
                           target[i] += alpha * part[i];
                       }
                     }
                   }
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
const Op kIndexAdd{
    .name = "index_add",
    .doc = "The input with alpha times the source added at the positions of a dim that the index names.",
    .inputs = {{"input"}, {"index"}, {"source"}},
    .params = {{"dim", ParamKind::dim, {}}, {"alpha", ParamKind::real, 1.0}},
    .shape = index_add_shape,
    .cpu = index_add_cpu,
    .vjp = index_add_vjp,
    .reads = {{}, {}, {.inputs = 2}},
    .half_through_f32 = true,
    .integer_inputs = 2};

// --- gather, scatter_add ---

void check_lanes(const char* op, const char* whole, const Shape& shape, const Shape& index, int dim) {
  bool fits = index.size() == shape.size();
  for (int i = 0; fits && i < index.size(); ++i) fits = i == dim || index[i] <= shape[i];
  if (!fits)
    fail(op, ": an index of shape ", index, " does not fit ", whole, " of shape ", shape, " along dim ",
         dim + 1);
}

// Calls f(i, offset) for the positions i of the index whose place along dim `across` is in [begin, end), in
// row-major order; offset is where the lane along `dim` begins in a contiguous tensor of shape `whole`.
template <class F>
void for_lanes(const Shape& shape, const Shape& whole, int dim, int across, int64_t begin, int64_t end,
               F&& f) {
  const Strides strides = contiguous_strides(whole), index_strides = contiguous_strides(shape);
  const int n = shape.size(), last = n - 1;
  int64_t position[kMaxDims] = {};
  const auto first_of = [&](int i) { return i == across ? begin : 0; };
  const auto end_of = [&](int i) { return i == across ? end : shape[i]; };
  int64_t rows = 1;
  for (int i = 0; i < last; ++i) {
    position[i] = first_of(i);
    rows *= end_of(i) - first_of(i);
  }
  const int64_t step = last == dim ? 0 : 1;
  for (int64_t row = 0; row < rows; ++row) {
    int64_t base = 0, at = 0;
    for (int i = 0; i < last; ++i) {
      at += position[i] * index_strides[i];
      if (i != dim) base += position[i] * strides[i];
    }
    for (int64_t k = first_of(last); k < end_of(last); ++k) f(at + k, base + k * step);
    for (int i = last - 1; i >= 0 && ++position[i] == end_of(i); --i) position[i] = first_of(i);
  }
}

// The longest dim other than `dim`: what is split over threads; -1 when there is none.
int widest_other(const Shape& shape, int dim) {
  int widest = -1;
  for (int i = 0; i < shape.size(); ++i)
    if (i != dim && (widest < 0 || shape[i] > shape[widest])) widest = i;
  return widest;
}

template <class F>
void for_lanes_in_parallel(const Shape& shape, const Shape& whole, int dim, F&& f) {
  const int across = widest_other(shape, dim);
  if (numel(shape) == 0) return;
  if (across < 0) return for_lanes(shape, whole, dim, -1, 0, 0, f);
  const int64_t per_position = numel(shape) / shape[across];
  parallel_for(shape[across], std::max<int64_t>(1, kGrain / 4 / per_position),
               [&](int64_t begin, int64_t end) { for_lanes(shape, whole, dim, across, begin, end, f); });
}

void gather_shape(Call& call) {
  const Tensor &x = call.input(0), &index = call.input(1);
  need_index_type("gather", index);
  check_lanes("gather", "a tensor", with_one_dim(x.shape()), with_one_dim(index.shape()), dim_of(call));
  call.emit(index.shape(), x.dtype());
}
void gather_cpu(const Call& call) {
  const Tensor x = dense(call.input(0));
  const Tensor &index = call.input(1), &out = call.output();
  const Shape whole = with_one_dim(x.shape());
  const int dim = dim_of(call);
  const Indices indices("gather", index, dim, whole[dim]);
  const int64_t stride = contiguous_strides(whole)[dim];
  const auto move = [&]<class Word>(Word*) {
    const Word* from = static_cast<const Word*>(x.raw());
    Word* to = static_cast<Word*>(out.raw());
    for_lanes_in_parallel(with_one_dim(index.shape()), whole, dim,
                          [&](int64_t i, int64_t lane) { to[i] = from[lane + indices[i] * stride]; });
  };
  switch (item_size(x.dtype())) {
    case 1:
      return move(static_cast<uint8_t*>(nullptr));
    case 2:
      return move(static_cast<uint16_t*>(nullptr));
    case 4:
      return move(static_cast<uint32_t*>(nullptr));
    default:
      return move(static_cast<uint64_t*>(nullptr));
  }
}
void gather_vjp(Backward& b) {
  const Tensor g = b.grad();
  b.set(0, scatter_add(zeros(b.shape(0), g.dtype(), g.device()), dim_of(b), b.input(1), g));
}
const Op kGather{.name = "gather",
                 .doc = "Along a dim, the element that the index (from 0) names at each place.",
                 .inputs = {{"input"}, {"index"}},
                 .params = {{"dim", ParamKind::dim, {}}},
                 .shape = gather_shape,
                 .cpu = gather_cpu,
                 .vjp = gather_vjp,
                 .reads = {{.inputs = 2}},
                 .integer_inputs = 2};

void scatter_add_shape(Call& call) {
  const Tensor &x = call.input(0), &index = call.input(1), &source = call.input(2);
  need_index_type("scatter_add", index);
  if (source.dtype() != x.dtype())
    fail("scatter_add: the source is ", source.dtype(), ", the tensor ", x.dtype());
  check_lanes("scatter_add", "a tensor", with_one_dim(x.shape()), with_one_dim(index.shape()), dim_of(call));
  check_lanes("scatter_add", "a source", with_one_dim(source.shape()), with_one_dim(index.shape()), -1);
  call.emit(x.shape(), x.dtype());
}
void scatter_add_cpu(const Call& call) {
  const Tensor& out = call.output();
  const Tensor x = dense(call.input(0));
  // The source may be larger than the index: only its corner counts.
  Tensor source = call.input(2);
  const Tensor& index = call.input(1);
  source = dense(Tensor(source.storage_ref(), LayoutRef(new Layout(index.shape(), source.strides())),
                        source.offset(), source.dtype()));
  const Shape whole = with_one_dim(x.shape());
  const int dim = dim_of(call);
  const Indices indices("scatter_add", index, dim, whole[dim]);
  const int64_t stride = contiguous_strides(whole)[dim];
  std::memcpy(out.raw(), x.raw(), out.nbytes());
  visit_dtype(out.dtype(), [&]<class T>() {
    const T* from = source.data<T>();
    T* to = out.data<T>();
    for_lanes_in_parallel(with_one_dim(index.shape()), whole, dim, [&](int64_t i, int64_t lane) {
      T& target = to[lane + indices[i] * stride];
      if constexpr (std::is_same_v<T, bool>)
        target = target || from[i];
      else if constexpr (std::is_arithmetic_v<T>)
        target += from[i];
    });
  });
}
void scatter_add_vjp(Backward& b) {
  const Tensor g = b.grad();
  if (b.needs(0)) b.set(0, g);
  if (!b.needs(2)) return;
  const Tensor index = b.input(1);
  Tensor part = gather(g, dim_of(b), index);
  if (!(index.shape() == b.shape(2)))
    part =
        as_strided_scatter(zeros(b.shape(2), g.dtype(), g.device()), part, contiguous_strides(b.shape(2)), 0);
  b.set(2, part);
}
const Op kScatterAdd{
    .name = "scatter_add",
    .doc = "The input with each element of the source added along a dim where the index names it.",
    .inputs = {{"input"}, {"index"}, {"src"}},
    .params = {{"dim", ParamKind::dim, {}}},
    .shape = scatter_add_shape,
    .cpu = scatter_add_cpu,
    .vjp = scatter_add_vjp,
    .reads = {{}, {}, {.inputs = 2}},
    .half_through_f32 = true,
    .integer_inputs = 2};

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
  const Tensor weight = dense(call.input(1));
  const Indices ids("embedding", call.input(0), 0, weight.size(0));
  const size_t bytes = size_t(weight.size(1)) * item_size(weight.dtype());
  const char* from = static_cast<const char*>(weight.raw());
  char* to = static_cast<char*>(call.output().raw());
  parallel_for(ids.size(), std::max<int64_t>(1, kGrain / weight.size(1)), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      std::memcpy(to + size_t(i) * bytes, from + size_t(ids[i]) * bytes, bytes);
  });
}
// The row of padding_idx gets none.
void embedding_vjp(Backward& b) {
  Tensor g = b.grad();
  const Tensor ids = b.input(0);
  const Value& padding = b.node().attributes->params[0];
  if (padding.present()) {
    const Tensor counts = unsqueeze(ne(ids, Tensor::number(padding.i)), ids.ndim());
    g = where(counts, g, Tensor::number(0.0));
  }
  const Shape rows{ids.numel(), b.shape(1)[1]};
  b.set(1, index_add(zeros(b.shape(1), g.dtype(), g.device()), 0, reshape(ids, {ids.numel()}),
                     reshape(g, rows)));
}
const Op kEmbedding{.name = "embedding",
                    .doc = "The rows of the weight that the ids (from 0) name; padding_idx gets no gradient.",
                    .inputs = {{"input"}, {"weight"}},
                    .params = {{.name = "padding_idx", .kind = ParamKind::integer, .optional = true}},
                    .shape = embedding_shape,
                    .cpu = embedding_cpu,
                    .vjp = embedding_vjp,
                    .reads = {{}, {.inputs = 1}},
                    .integer_inputs = 1};

// --- masks ---

void need_mask(const char* op, const Tensor& mask) {
  if (mask.dtype() != DType::boolean) fail(op, ": the mask must be bool (got ", mask.dtype(), ")");
}

Operands masked_fill_compose(const Call& call) {
  const Tensor &x = call.input(0), &mask = call.input(1);
  need_mask("masked_fill", mask);
  const Value& value = call.params[0];
  const bool real = value.kind == Value::Kind::real;
  if (real && !is_floating(x.dtype()))
    fail("masked_fill: ", value.f, " cannot be written into a tensor of type ", x.dtype());
  if (!broadcasts_to(mask.shape(), x.shape()))
    fail("masked_fill: a mask of shape ", mask.shape(), " does not broadcast to ", x.shape());
  const int64_t whole = value.kind == Value::Kind::boolean ? int64_t(value.b) : value.i;
  return {to(where(mask, real ? Tensor::number(value.f) : Tensor::number(whole), x), x.dtype())};
}
const Op kMaskedFill{.name = "masked_fill",
                     .doc = "The input with value where the mask holds.",
                     .inputs = {{"input"}, {"mask"}},
                     .params = {{"value", ParamKind::number, {}}},
                     .compose = masked_fill_compose,
                     .integer_inputs = 2};

// The shape depends on the values, so they are brought to the CPU to be counted.
std::vector<uint8_t> truth_of(const Tensor& x) {
  const NoGrad off;
  return to(x, DType::boolean).to_vector<uint8_t>();
}
void nonzero_shape(Call& call) {
  const Tensor& x = call.input(0);
  const std::vector<uint8_t> truth = truth_of(x);
  call.emit({int64_t(std::count(truth.begin(), truth.end(), 1)), int64_t(x.ndim())}, DType::i64);
}
void nonzero_cpu(const Call& call) {
  const Tensor& x = call.input(0);
  const std::vector<uint8_t> truth = truth_of(x);
  const int dims = x.ndim();
  const int64_t last = dims > 0 ? x.size(-1) : 1;
  int64_t *to = call.output().data<int64_t>(), *const end = to + call.output().numel();
  Dims position(dims, 0);
  // Each element writes its position; the next one writes over it unless it counts. No branch to foresee.
  for (size_t row = 0; row < truth.size(); row += size_t(last)) {
    for (int64_t j = 0; j < last && to != end; ++j) {
      for (int d = 0; d + 1 < dims; ++d) to[d] = position[d];
      if (dims > 0) to[dims - 1] = j;
      to += truth[row + size_t(j)] ? dims : 0;
    }
    for (int d = dims - 2; d >= 0 && ++position[d] == x.size(d); --d) position[d] = 0;
  }
}
const Op kNonzero{.name = "nonzero",
                  .doc = "The indices (from 0) of the elements that are not zero, one row each.",
                  .inputs = {{"input"}},
                  .shape = nonzero_shape,
                  .cpu = nonzero_cpu};

Operands masked_select_compose(const Call& call) {
  const Tensor &x = call.input(0), &mask = call.input(1);
  need_mask("masked_select", mask);
  const Shape shape = broadcast_shapes("masked_select", x.shape(), mask.shape());
  const Shape flat{numel(shape)};
  const Tensor places = nonzero(reshape(expand(mask, shape), flat));
  return {index_select(reshape(expand(x, shape), flat), 0, reshape(places, {places.size(0)}))};
}
const Op kMaskedSelect{.name = "masked_select",
                       .doc = "The elements where the mask holds, in a row.",
                       .inputs = {{"input"}, {"mask"}},
                       .compose = masked_select_compose,
                       .integer_inputs = 2};

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
  std::memset(to, 0, out.nbytes());
  for (int64_t i = 0; i < ids.size(); ++i) to[i * classes + ids[i]] = 1;
}
const Op kOneHot{.name = "one_hot",
                 .doc = "1 at each id's place (from 0) in a new last dim, 0 elsewhere.",
                 .inputs = {{"input"}},
                 .params = {{"num_classes", ParamKind::integer, -1}},
                 .shape = one_hot_shape,
                 .cpu = one_hot_cpu,
                 .integer_inputs = 1};

}  // namespace

Tensor index_select(const Tensor& x, int dim, const Tensor& index) {
  return apply1(kIndexSelect, {x, index}, {dim});
}
Tensor index_add(const Tensor& x, int dim, const Tensor& index, const Tensor& source, double alpha) {
  return apply1(kIndexAdd, {x, index, source}, {dim, alpha});
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
  static const Op* const ops[] = {&kIndexSelect, &kIndexAdd,     &kGather,  &kScatterAdd, &kEmbedding,
                                  &kMaskedFill,  &kMaskedSelect, &kNonzero, &kOneHot};
  return ops;
}

}  // namespace lunagrad

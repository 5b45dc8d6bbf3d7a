// Copies of a tensor with other elements where a view of it lies: select_scatter, slice_scatter,
// diagonal_scatter, as_strided_scatter; and put, which names positions of the flattened tensor.
#include <algorithm>

#include "runtime/core/script_numbers.h"
#include "runtime/ops/families.h"
#include "runtime/ops/index/indices.h"

namespace lunagrad {
namespace {

using Types = OpExample::Types;

void need_shape(const Call& call, const Shape& place) {
  if (const Shape& given = call.input(1).shape(); !(place == given))
    fail(call.op->name, ": src of shape ", given, " does not fit the place of shape ", place);
}

// A copy of x with the elements of src in place of the elements that `view` shows. `view` maps a tensor of
// x's shape to its view, in which no element occurs twice.
template <class View>
Operands written(const Call& call, View&& view) {
  const Tensor &x = call.input(0), &src = call.input(1);
  const Tensor layout = Tensor::empty(x.shape(), DType::boolean), place = view(layout);
  need_shape(call, place.shape());
  return {as_strided_scatter(x, to(src, x.dtype()), place.strides(), place.offset() - layout.offset())};
}

// The same where elements may occur several times in the view: the last occurrence counts.
template <class View>
Operands written_in_order(const Call& call, View&& view) {
  const Tensor &x = call.input(0), &src = call.input(1);
  const int64_t n = x.numel();
  const Tensor places = view(reshape(arange(0, double(n), 1, DType::i64, x.device()), x.shape()));
  need_shape(call, places.shape());
  const Shape flat{places.numel()};
  const Tensor all = index_copy(reshape(x, {n}), 0, reshape(places, flat), reshape(to(src, x.dtype()), flat));
  return {reshape(all, x.shape())};
}

Operands select_scatter_compose(const Call& call) {
  return written(call, [&](const Tensor& x) { return select(x, int(call.integer(0)), call.integer(1)); });
}
const Op kSelectScatter{
    .name = "select_scatter",
    .doc = "A copy of input with src at position index of dim.",
    .inputs = {{"input"}, {"src"}},
    .params = {{"dim", ParamKind::dim, {}}, {"index", ParamKind::position, {}}},
    .compose = select_scatter_compose,
    .family = OpFamily::view,
    .examples = {{.inputs = {{{3, 4}}, {{4}}}, .params = {0, 1}},
                 {.inputs = {{{2, 3, 4}}, {{2, 4}}}, .params = {1, -1}},
                 {.inputs = {{{3, 4}}, {{3}}}, .params = {0, 1}, .error = "src of shape [3] does not fit"}}};

// `end` is the last position, counted from 1. PyTorch's `end`, the first position left out, counted from 0,
// is the same number.
Operands slice_scatter_compose(const Call& call) {
  const Tensor& x = call.input(0);
  if (x.ndim() == 0) fail("slice_scatter: a scalar tensor has no dims");
  const int dim = normalize_dim("slice_scatter", call.integer(0), x.shape());
  const int64_t size = x.size(dim), step = call.integer(3);
  if (step < 1) fail("slice_scatter: a step of at least 1 expected (got ", step, ")");
  const auto limited = [size](int64_t at) { return std::clamp<int64_t>(at, 0, size); };
  int64_t start = call.integer(1), end = call.params[2].present() ? call.integer(2) : size;
  if (start < 0) start += size;
  if (end < 0) end += size + 1;
  start = limited(start);
  end = std::max(start, limited(end));
  return written(call, [&](const Tensor& places) { return slice(places, dim, start, end, step); });
}
const Op kSliceScatter{
    .name = "slice_scatter",
    .doc =
        "A copy of input with src at the positions start to end of dim, both included and step apart; all "
        "positions where they are absent.",
    .inputs = {{"input"}, {"src"}},
    .params = {{"dim", ParamKind::dim, 0},
               {"start", ParamKind::position, 0},
               {.name = "end", .kind = ParamKind::integer, .fallback = {}, .optional = true},
               {"step", ParamKind::integer, 1}},
    .compose = slice_scatter_compose,
    .family = OpFamily::view,
    .examples = {{.inputs = {{{4, 3}}, {{2, 3}}}, .params = {0, 2, 4, 1}},
                 {.inputs = {{{3, 6}}, {{3, 2}}}, .params = {1, 1, 5, 2}},
                 {.inputs = {{{3, 4}}, {{3, 4}}}, .params = {0, 0, 3, 1}},
                 {.inputs = {{{3, 4}}, {{0, 4}}}, .params = {0, 3, 3, 1}},
                 {.inputs = {{{3, 4}}, {{3, 4}}}, .params = {0, 0, 3, 0}, .error = "a step of at least 1"}}};

Operands diagonal_scatter_compose(const Call& call) {
  return written(call, [&](const Tensor& x) {
    return diagonal(x, call.integer(0), int(call.integer(1)), int(call.integer(2)));
  });
}
const Op kDiagonalScatter{
    .name = "diagonal_scatter",
    .doc = "A copy of input with src on the diagonal of dim1 and dim2, offset to the right of the main one.",
    .inputs = {{"input"}, {"src"}},
    .params = {{"offset", ParamKind::integer, 0}, {"dim1", ParamKind::dim, 0}, {"dim2", ParamKind::dim, 1}},
    .compose = diagonal_scatter_compose,
    .family = OpFamily::view,
    .examples = {{.inputs = {{{3, 3}}, {{3}}}},
                 {.inputs = {{{3, 4}}, {{2}}}, .params = {-1}},
                 {.inputs = {{{2, 3, 4}}, {{3, 2}}}, .params = {0, 0, 2}},
                 {.inputs = {{{3, 3}}, {{2}}}, .error = "diagonal_scatter: src of shape [2] does not fit"}}};

// Positions of the contiguous copy of input.
Operands as_strided_scatter_compose(const Call& call) {
  const int64_t first = call.params[2].present() ? call.integer(2) : 0;
  return written_in_order(
      call, [&](const Tensor& places) { return as_strided(places, call.list(0), call.list(1), first); });
}
const Op kAsStridedScatter{
    .name = "as_strided_scatter",
    .doc =
        "A contiguous copy of input with src where as_strided of that copy with this size, stride and "
        "storage_offset lies.",
    .inputs = {{"input"}, {"src"}},
    .params = {{"size", ParamKind::integers, {}},
               {"stride", ParamKind::integers, {}},
               {.name = "storage_offset", .kind = ParamKind::integer, .fallback = {}, .optional = true}},
    .compose = as_strided_scatter_compose,
    .family = OpFamily::view,
    .examples = {{.inputs = {{{3, 4}}, {{2, 3}}}, .params = {Dims{2, 3}, Dims{4, 1}, 1}},
                 {.inputs = {{{3, 4}}, {{3}}},
                  .params = {Dims{3}, Dims{6}},
                  .error = "leaves the storage of 12 elements"}}};

// --- put ---

Operands put_compose(const Call& call) {
  const Tensor &x = call.input(0), &index = call.input(1), &source = call.input(2);
  need_index_type("put", index);
  if (index.numel() != source.numel())
    fail("put: source of shape ", source.shape(), " does not have an element for each of index of shape ",
         index.shape());
  const Shape flat{index.numel()};
  const Tensor all = reshape(x, {x.numel()}), places = indices_from_front(reshape(index, flat), x.numel());
  const Tensor values = reshape(to(source, x.dtype()), flat);
  return {reshape(call.flag(0) ? index_add(all, 0, places, values) : index_copy(all, 0, places, values),
                  x.shape())};
}
const Op kPut{
    .name = "put",
    .doc =
        "A copy of input with source at the positions of the flattened input that index (from 0, negative "
        "from the end) names; with accumulate added to the elements there.",
    .inputs = {{"input"}, {"index"}, {"source"}},
    .params = {{"accumulate", ParamKind::boolean, false}},
    .compose = put_compose,
    .integer_inputs = 2,
    .in_place = InPlaceForm::writes,
    .family = OpFamily::view,
    .examples = {{.inputs = {{{2, 1}}, {.shape = {1}, .low = 0, .high = 2, .kind = kIndex}, {{1}}}},
                 {.inputs = {{{2, 3}}, {.shape = {4}, .low = 0, .high = 6, .kind = kIndex}, {{2, 2}}},
                  .params = {true}},
                 {.inputs = {{{2, 3}}, {.shape = {2}, .low = 0, .high = 6, .kind = kIndex}, {{3}}},
                  .error = "does not have an element for each"}}};

}  // namespace

std::span<const Op* const> view_scatter_ops() {
  static constexpr const Op* ops[] = {&kSelectScatter, &kSliceScatter, &kDiagonalScatter, &kAsStridedScatter,
                                      &kPut};
  return ops;
}

}  // namespace lunagrad

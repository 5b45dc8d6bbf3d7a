// Ops that copy or move elements: casts, reshapes, dims, slices, concatenation and padding.
#include <algorithm>
#include <limits>

#include "script/onnx/rule.h"

namespace lunagrad::onnx_export {
namespace {

void write_identity(const Site& site) { site.give(0, site.in(0)); }

void write_cast(const Site& site) {
  site.give(0, site.cast(site.in(0), site.call.input(0).dtype(), site.call.output().dtype()));
}

// A write into a tensor: its source is cast and expanded to the target's dtype and shape.
void write_copy(const Site& site) {
  const std::string value = site.in(1, site.call.output().dtype());
  if (site.shape(1) == site.call.output().shape()) return site.give(0, value);
  site.give(0, site.add("Expand", {value, site.graph().sizes(list_of(site.call.output().shape()))}));
}

// --- shapes and dims ---

void write_view(const Site& site) {
  site.give(0, site.add("Reshape", {site.in(0), site.graph().sizes(list_of(site.call.output().shape()))}));
}

void write_squeeze(const Site& site) {
  const Shape& x = site.shape();
  List dims;
  for (int d = 0; d < x.size(); ++d)
    if (x[d] == 1 && (!site.call.params[0].present() || d == site.dim(0, x.size()))) dims.push_back(d);
  site.give(0, dims.empty() ? site.in(0) : site.squeeze(site.in(0), dims));
}

void write_unsqueeze(const Site& site) {
  site.give(0, site.unsqueeze(site.in(0), {site.dim(0, site.shape().size() + 1)}));
}

List in_order(int ndim) {
  List order;
  for (int d = 0; d < ndim; ++d) order.push_back(d);
  return order;
}

void write_transpose(const Site& site) {
  const int ndim = site.shape().size();
  if (ndim == 0) return write_identity(site);
  List order = in_order(ndim);
  std::swap(order[size_t(site.dim(0, ndim))], order[size_t(site.dim(1, ndim))]);
  site.give(0, site.add("Transpose", {site.in(0)}, {{"perm", order}}));
}

void write_permute(const Site& site) {
  List order = list_of(site.call.list(0));
  for (int64_t& d : order) d += d < 0 ? site.shape().size() : 0;
  site.give(0, site.add("Transpose", {site.in(0)}, {{"perm", order}}));
}

// In the sizes of Expand, 1 keeps the input's size: a dim that is not expanded may have any size.
void write_expand(const Site& site) {
  const Shape &x = site.shape(), &y = site.call.output().shape();
  if (x == y) return write_identity(site);
  List sizes = list_of(y);
  for (int d = 1; d <= x.size(); ++d)
    if (x[x.size() - d] == y[y.size() - d]) sizes[sizes.size() - size_t(d)] = 1;
  site.give(0, site.add("Expand", {site.in(0), site.graph().sizes(sizes)}));
}

// --- slices ---

constexpr int64_t kToTheEnd = std::numeric_limits<int64_t>::max();

void write_slice(const Site& site) {
  const Call& call = site.call;
  const int64_t dim = site.dim(0, site.shape().size()), start = call.integer(1), step = call.integer(3);
  const int64_t end = start + call.integer(2) * step;
  const bool to_the_end = call.integer(2) > 0 && end >= site.shape()[int(dim)];
  site.give(0, site.slice(site.in(0), dim, start, to_the_end ? kToTheEnd : end, step));
}

void write_select(const Site& site) {
  const int64_t dim = site.dim(0, site.shape().size());
  const std::string index = site.graph().number(double(site.call.integer(1)), DType::i64);
  site.give(0, site.add("Gather", {site.in(0), index}, {{"axis", dim}}));
}

void write_split(const Site& site) {
  const int64_t dim = site.dim(0, site.shape().size());
  const Names parts =
      site.graph().add("Split", {site.in(0), site.graph().integers(list_of(site.call.list(1)))},
                       {{"axis", dim}}, int(site.call.out.size()));
  for (size_t i = 0; i < parts.size(); ++i) site.give(int(i), parts[i]);
}

void write_flip(const Site& site) {
  std::string x = site.in(0);
  for (const int64_t given : site.call.list(0)) {
    const int64_t dim = given < 0 ? given + site.shape().size() : given;
    x = site.slice(x, dim, -1, std::numeric_limits<int64_t>::min(), -1);
  }
  site.give(0, x);
}

// Swaps the last `shift` positions of a dim with the positions before them.
void write_roll(const Site& site) {
  std::string x = site.in(0);
  for (int d = 0; d < site.shape().size(); ++d) {
    const int64_t size = site.shape()[d];
    if (size == 0) continue;
    const int64_t shift = (site.call.list(0)[d] % size + size) % size;
    if (shift == 0) continue;
    x = site.add("Concat", {site.slice(x, d, -shift, kToTheEnd), site.slice(x, d, 0, -shift)},
                 {{"axis", int64_t(d)}});
  }
  site.give(0, x);
}

// The windows along a dim, with the positions inside a window in a new last dim: a Gather with the table
// [windows, size] of positions.
void write_unfold(const Site& site) {
  const Shape& y = site.call.output().shape();
  const int64_t dim = site.dim(0, site.shape().size()), size = site.call.integer(1),
                step = site.call.integer(2);
  const int64_t count = y[int(dim)];
  List positions;
  for (int64_t w = 0; w < count; ++w)
    for (int64_t i = 0; i < size; ++i) positions.push_back(w * step + i);
  const std::string table = site.graph().tensor(Tensor::from<int64_t>(positions, {count, size}));
  List order = in_order(y.size());
  order.erase(order.begin() + dim + 1);
  order.push_back(dim + 1);
  const std::string windows = site.add("Gather", {site.in(0), table}, {{"axis", dim}});
  site.give(0, site.add("Transpose", {windows}, {{"perm", order}}));
}

// Merges the two dims into one last dim and gathers the elements of the diagonal from it.
void write_diagonal(const Site& site) {
  const Shape& x = site.shape();
  const int64_t rows = site.dim(1, x.size()), columns = site.dim(2, x.size()), offset = site.call.integer(0);
  List order, sizes;
  for (int d = 0; d < x.size(); ++d)
    if (d != rows && d != columns) order.push_back(d), sizes.push_back(x[d]);
  order.insert(order.end(), {rows, columns});
  sizes.push_back(x[int(rows)] * x[int(columns)]);
  List places;
  for (int64_t i = 0; i < site.call.output().size(-1); ++i)
    places.push_back((i + std::max<int64_t>(0, -offset)) * x[int(columns)] + i +
                     std::max<int64_t>(0, offset));
  const std::string moved = site.add("Transpose", {site.in(0)}, {{"perm", order}});
  const std::string merged = site.add("Reshape", {moved, site.graph().sizes(sizes)});
  site.give(0,
            site.add("Gather", {merged, site.graph().integers(places)}, {{"axis", int64_t(x.size() - 2)}}));
}

// --- concatenation, padding, triangles ---

void write_cat(const Site& site) {
  Names parts;
  for (size_t i = 0; i < site.call.in.size(); ++i)
    parts.push_back(site.in(int(i), site.call.output().dtype()));
  site.give(0, site.add("Concat", parts, {{"axis", site.dim(0, site.call.output().ndim())}}));
}

// The widths are pairs (before, after), the last dim first. ONNX takes the "before" widths of all dims, then
// the "after" widths.
void write_pad(const Site& site) {
  const Dims& widths = site.call.list(0);
  const int ndim = site.shape().size();
  List pads(size_t(2 * ndim), 0);
  for (int i = 0; i < widths.size() / 2; ++i) {
    pads[size_t(ndim - 1 - i)] = widths[2 * i];
    pads[size_t(2 * ndim - 1 - i)] = widths[2 * i + 1];
  }
  site.give(0, site.add("Pad", {site.in(0), site.graph().integers(pads), site.number(site.real(1))}));
}

template <int upper>
void write_triangle(const Site& site) {
  const std::string diagonal = site.graph().number(double(site.call.integer(0)), DType::i64);
  site.give(0, site.add("Trilu", {site.in(0), diagonal}, {{"upper", int64_t(upper)}}));
}

}  // namespace

std::span<const Rule> shape_rules() {
  static constexpr Rule rules[] = {{"clone", write_identity},
                                   {"_to_device", write_identity},
                                   {"_cast", write_cast},
                                   {"_copy", write_copy},
                                   {"view", write_view},
                                   {"squeeze", write_squeeze},
                                   {"unsqueeze", write_unsqueeze},
                                   {"transpose", write_transpose},
                                   {"permute", write_permute},
                                   {"expand", write_expand},
                                   {"slice", write_slice},
                                   {"select", write_select},
                                   {"_split", write_split},
                                   {"flip", write_flip},
                                   {"_roll", write_roll},
                                   {"unfold", write_unfold},
                                   {"diagonal", write_diagonal},
                                   {"cat", write_cat},
                                   {"_pad", write_pad},
                                   {"tril", write_triangle<0>},
                                   {"triu", write_triangle<1>}};
  return rules;
}

}  // namespace lunagrad::onnx_export

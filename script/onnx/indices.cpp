// Ops that read or write elements at indices.
#include "script/onnx/rule.h"

namespace lunagrad::onnx_export {
namespace {

// The indices, as i32 or i64: ONNX takes no other dtypes.
std::string indices(const Site& site, int input) {
  const DType type = site.call.input(input).dtype();
  return site.in(input, type == DType::i32 ? DType::i32 : DType::i64);
}

void write_embedding(const Site& site) { site.give(0, site.add("Gather", {site.in(1), indices(site, 0)})); }

void write_index_select(const Site& site) {
  site.give(0,
            site.add("Gather", {site.in(0), indices(site, 1)}, {{"axis", site.dim(0, site.shape().size())}}));
}

void write_gather(const Site& site) {
  const Attribute axis{"axis", site.dim(0, site.shape().size())};
  site.give(0, site.add("GatherElements", {site.in(0), indices(site, 1)}, {axis}));
}

// The values (operand 2), cut to the shape of the indices.
std::string updates(const Site& site) {
  std::string values = site.in(2, site.call.input(0).dtype());
  if (site.shape(2).empty())  // one number for all
    return site.add("Expand", {values, site.graph().sizes(list_of(site.shape(1)))});
  for (int d = 0; d < site.shape(1).size(); ++d)
    if (site.shape(2)[d] != site.shape(1)[d]) values = site.slice(values, d, 0, site.shape(1)[d]);
  return values;
}

void write_scatter(const Site& site) {
  const Attribute axis{"axis", site.dim(0, site.shape().size())};
  site.give(0, site.add("ScatterElements", {site.in(0), indices(site, 1), updates(site)}, {axis}));
}

void write_scatter_add(const Site& site) {
  const Attribute axis{"axis", site.dim(0, site.shape().size())}, add{"reduction", "add"};
  site.give(0, site.add("ScatterElements", {site.in(0), indices(site, 1), updates(site)}, {axis, add}));
}

// Repeats each index for every element of the slice that it selects, as ScatterElements needs.
std::string for_slices(const Site& site, int64_t dim) {
  const int ndim = site.shape().size();
  if (ndim == 0) site.refuse("a scalar tensor cannot be indexed in ONNX");
  std::vector<int64_t> line(size_t(ndim), 1), slices = list_of(site.shape());
  line[size_t(dim)] = slices[size_t(dim)] = site.call.input(1).numel();
  const std::string index = site.add("Reshape", {indices(site, 1), site.graph().integers(line)});
  return site.add("Expand", {index, site.graph().sizes(slices)});
}

void write_index_add(const Site& site) {
  const int64_t dim = site.dim(0, site.shape().size());
  std::string values = site.in(2, site.call.input(0).dtype());
  if (const double alpha = site.real(1); alpha != 1) values = site.add("Mul", {values, site.number(alpha)});
  site.give(0, site.add("ScatterElements", {site.in(0), for_slices(site, dim), values},
                        {{"axis", dim}, {"reduction", "add"}}));
}

void write_index_copy(const Site& site) {
  const int64_t dim = site.dim(0, site.shape().size());
  site.give(0, site.add("ScatterElements", {site.in(0), for_slices(site, dim), site.in(2)}, {{"axis", dim}}));
}

// The flattened base, with the elements that the view covers replaced.
void write_as_strided_scatter(const Site& site) {
  const Shape& value = site.shape(1);
  const Strides strides = site.call.list(0);
  std::vector<int64_t> places;
  for (int64_t i = 0; i < numel(value); ++i) {
    int64_t rest = i, place = site.call.integer(1);
    for (int d = value.size() - 1; d >= 0; rest /= value[d--]) place += rest % value[d] * strides[d];
    places.push_back(place);
  }
  const std::string flat = site.graph().integers({-1});
  const std::string base = site.add("Reshape", {site.in(0), flat}),
                    values = site.add("Reshape", {site.in(1), flat});
  const std::string all =
      site.add("ScatterElements", {base, site.graph().integers(places), values}, {{"axis", int64_t(0)}});
  site.give(0, site.add("Reshape", {all, site.graph().sizes(list_of(site.shape()))}));
}

void write_index_fill(const Site& site) {
  const int64_t dim = site.dim(0, site.shape().size());
  std::vector<int64_t> slices = list_of(site.shape());
  if (!slices.empty()) slices[size_t(dim)] = site.call.input(1).numel();
  const std::string index = for_slices(site, dim);
  const std::string value = site.in(2, site.call.output().dtype());
  const std::string values = site.add("Expand", {value, site.graph().sizes(slices)});
  site.give(0, site.add("ScatterElements", {site.in(0), index, values}, {{"axis", dim}}));
}

void write_one_hot(const Site& site) {
  const int64_t classes = site.call.integer(0);
  if (classes < 0) site.refuse("give num_classes: every input would get the example's number");
  const std::string depth = site.graph().number(double(classes), DType::i64);
  const std::string values = site.graph().integers({0, 1});
  site.give(0, site.add("OneHot", {indices(site, 0), depth, values}));
}

}  // namespace

std::span<const Rule> index_rules() {
  static constexpr Rule rules[] = {
      {"embedding", write_embedding},      {"index_select", write_index_select},
      {"index_add", write_index_add},      {"index_copy", write_index_copy},
      {"index_fill", write_index_fill},    {"gather", write_gather},
      {"scatter", write_scatter},          {"scatter_add", write_scatter_add},
      {"one_hot", write_one_hot},          {"_as_strided_scatter", write_as_strided_scatter},
      {"_select_once", write_index_select}};
  return rules;
}

}  // namespace lunagrad::onnx_export

// Sums and extremes over dims, softmax, norms, running sums, and sorting.
#include <limits>

#include "runtime/ops.h"
#include "script/onnx/rule.h"

namespace lunagrad::onnx_export {
namespace {

// The dims of a reduction, which are parameter `at`; all dims when it is absent or empty.
List reduced(const Site& site, int at) {
  const int ndim = site.shape().size();
  List dims;
  if (site.call.params[size_t(at)].present() && !site.call.list(at).empty()) {
    for (const int64_t d : site.call.list(at)) dims.push_back(d < 0 ? d + ndim : d);
  } else {
    for (int d = 0; d < ndim; ++d) dims.push_back(d);
  }
  return dims;
}

// In opset 17 ReduceSum takes its dims as an operand; the other reductions take them as an attribute.
std::string reduce(const Site& site, const char* type, const std::string& x, const List& dims, bool keepdim) {
  if (dims.empty()) return x;  // a 0-d tensor
  const Attribute keep{"keepdims", int64_t(keepdim)};
  if (std::string_view(type) == "ReduceSum") return site.add(type, {x, site.graph().integers(dims)}, {keep});
  return site.add(type, {x}, {{"axes", dims}, keep});
}

constexpr int kDimsAt = 0, kKeepdimAt = 1;

// The operand is cast to the result's dtype before the reduction: integers are summed in i64.
void write_total(const Site& site, const char* type) {
  const std::string x = site.in(0, site.call.output().dtype());
  site.give(0, reduce(site, type, x, reduced(site, kDimsAt), site.call.flag(kKeepdimAt)));
}
void write_sum(const Site& site) { write_total(site, "ReduceSum"); }
void write_mean(const Site& site) { write_total(site, "ReduceMean"); }
void write_prod(const Site& site) { write_total(site, "ReduceProd"); }
void write_amax(const Site& site) { write_total(site, "ReduceMax"); }
void write_amin(const Site& site) { write_total(site, "ReduceMin"); }

// The mean of the squared distances from the mean, times n / (n - correction).
std::string variance(const Site& site) {
  enum { kUnbiased = 1, kKeepdim, kCorrection };
  const Call& call = site.call;
  const List dims = reduced(site, kDimsAt);
  const std::string x = site.in(0);
  const std::string centred = site.add("Sub", {x, reduce(site, "ReduceMean", x, dims, true)});
  const std::string squares = site.add("Mul", {centred, centred});
  const std::string mean = reduce(site, "ReduceMean", squares, dims, call.flag(kKeepdim));
  double count = 1;
  for (const int64_t d : dims) count *= double(site.shape()[int(d)]);
  const int64_t correction =
      call.params[kUnbiased].present() ? call.flag(kUnbiased) : call.integer(kCorrection);
  return correction == 0 ? mean : site.add("Mul", {mean, site.number(count / (count - double(correction)))});
}
void write_var(const Site& site) { site.give(0, variance(site)); }
void write_std(const Site& site) { site.give(0, site.add("Sqrt", {variance(site)})); }

void write_mse_loss(const Site& site) {
  enum { kNone, kMean };
  const std::string apart = site.add("Sub", {site.in(0), site.in(1)});
  const std::string squares = site.add("Mul", {apart, apart});
  if (site.call.integer(0) == kNone) return site.give(0, squares);
  List all;
  for (int d = 0; d < site.shape().size(); ++d) all.push_back(d);
  site.give(0, reduce(site, site.call.integer(0) == kMean ? "ReduceMean" : "ReduceSum", squares, all, false));
}

// `all` is the minimum of 0 and 1, `any` the maximum. ONNX's reductions take no bool, so cast to i32.
void write_truth(const Site& site, const char* type) {
  const std::string truth = site.in(0, DType::boolean);
  const std::string x = site.cast(truth, DType::boolean, DType::i32);
  const std::string y = reduce(site, type, x, reduced(site, kDimsAt), site.call.flag(kKeepdimAt));
  site.give(0, site.cast(y, DType::i32, DType::boolean));
}
void write_all(const Site& site) { write_truth(site, "ReduceMin"); }
void write_any(const Site& site) { write_truth(site, "ReduceMax"); }

// --- extremes along one dim, and their positions ---

std::string place(const Site& site, const char* type, const std::string& x, int64_t dim, bool keepdim) {
  return site.add(type, {x}, {{"axis", dim}, {"keepdims", int64_t(keepdim)}});
}

template <bool largest>
void write_extreme(const Site& site) {
  const int64_t dim = site.dim(0, site.shape().size());
  const bool keepdim = site.call.flag(1);
  site.give(0, reduce(site, largest ? "ReduceMax" : "ReduceMin", site.in(0), {dim}, keepdim));
  site.give(1, place(site, largest ? "ArgMax" : "ArgMin", site.in(0), dim, keepdim));
}

// Without a dim: the position in the flattened tensor.
template <bool largest>
void write_arg_extreme(const Site& site) {
  const char* const type = largest ? "ArgMax" : "ArgMin";
  if (site.call.params[0].present()) {
    const int64_t dim = site.dim(0, site.shape().size());
    return site.give(0, place(site, type, site.in(0), dim, site.call.flag(1)));
  }
  const std::string all = site.add("Reshape", {site.in(0), site.graph().integers({-1})});
  const std::string y = place(site, type, all, 0, false);
  if (site.call.output().ndim() == 0) return site.give(0, y);
  site.give(0, site.add("Reshape", {y, site.graph().integers(List(size_t(site.call.output().ndim()), 1))}));
}

// --- softmax, norms ---

void write_softmax(const Site& site) {
  site.give(0, site.add("Softmax", {site.in(0)}, {{"axis", site.dim(0, site.shape().size())}}));
}
void write_log_softmax(const Site& site) {
  site.give(0, site.add("LogSoftmax", {site.in(0)}, {{"axis", site.dim(0, site.shape().size())}}));
}

// A tensor filled with one value, for an absent weight or bias.
std::string filled(const Site& site, const Shape& shape, double value, DType type) {
  const std::vector<double> values(size_t(numel(shape)), value);
  const NoGrad off;
  return site.graph().tensor(to(Tensor::from<double>(values, shape), type));
}
std::string or_filled(const Site& site, int input, const Shape& shape, double value) {
  return site.call.has(input) ? site.in(input) : filled(site, shape, value, site.call.output().dtype());
}

void write_layer_norm(const Site& site) {
  const Dims& normalized = site.call.list(0);
  site.give(0, site.add("LayerNormalization", {site.in(0), or_filled(site, 1, normalized, 1), site.in(2)},
                        {{"axis", int64_t(-normalized.size())}, {"epsilon", site.real(1)}}));
}

// Opset 17 has no RMSNormalization. The composition also scales rows whose squares would overflow or
// underflow.
void write_rms_norm(const Site& site) {
  List dims;
  for (int64_t d = -int64_t(site.call.list(0).size()); d < 0; ++d) dims.push_back(d);
  const double eps = site.call.params[1].present() ? site.real(1) : std::numeric_limits<float>::epsilon();
  const std::string x = site.in(0), squares = site.add("Mul", {x, x});
  const std::string mean =
      site.add("Add", {reduce(site, "ReduceMean", squares, dims, true), site.number(eps)});
  const std::string y = site.add("Div", {x, site.add("Sqrt", {mean})});
  site.give(0, site.call.has(1) ? site.add("Mul", {y, site.in(1)}) : y);
}

// Computed in the type of the statistics, which is f32 for 16-bit inputs: few runtimes accept mixed types.
void write_batch_norm(const Site& site) {
  const DType type = site.call.input(1).dtype();
  const auto of_channels = [&](int input, double otherwise) {
    return site.call.has(input) ? site.in(input) : filled(site, {site.shape()[1]}, otherwise, type);
  };
  const std::string y = site.add(
      "BatchNormalization", {site.in(0, type), of_channels(3, 1), of_channels(4, 0), site.in(1), site.in(2)},
      {{"epsilon", site.real(0)}});
  site.give(0, site.cast(y, type, site.call.output().dtype()));
}

// With one channel per group this is ONNX's InstanceNormalization. Opset 17 has no other group norm.
void write_group_norm(const Site& site) {
  const Shape& x = site.shape();
  if (x.size() < 3 || x[1] != site.call.integer(0)) return site.compose();
  site.give(0, site.add("InstanceNormalization",
                        {site.in(0), or_filled(site, 1, {x[1]}, 1), or_filled(site, 2, {x[1]}, 0)},
                        {{"epsilon", site.real(1)}}));
}

// --- running sums, sorting ---

void write_cumsum(const Site& site) {
  const DType type = site.call.output().dtype();
  const std::string dim = site.graph().number(double(site.dim(0, site.shape().size())), DType::i64);
  site.give(0,
            site.add("CumSum", {site.in(0, type), dim},
                     {{"exclusive", int64_t(site.call.flag(1))}, {"reverse", int64_t(site.call.flag(2))}}));
}

void write_largest(const Site& site, int64_t count, int64_t dim, bool largest) {
  const Names y = site.graph().add("TopK", {site.in(0), site.graph().integers({count})},
                                   {{"axis", dim}, {"largest", int64_t(largest)}}, 2);
  site.give(0, y[0]);
  site.give(1, y[1]);
}
void write_topk(const Site& site) {
  write_largest(site, site.call.integer(0), site.dim(1, site.shape().size()), site.call.flag(2));
}
void write_sort(const Site& site) {
  const int64_t dim = site.dim(0, site.shape().size());
  write_largest(site, site.shape()[int(dim)], dim, site.call.flag(1));
}

}  // namespace

std::span<const Rule> reduction_rules() {
  static constexpr Rule rules[] = {{"sum", write_sum},
                                   {"mean", write_mean},
                                   {"prod", write_prod},
                                   {"amax", write_amax},
                                   {"amin", write_amin},
                                   {"var", write_var},
                                   {"std", write_std},
                                   {"mse_loss", write_mse_loss},
                                   {"all", write_all},
                                   {"any", write_any},
                                   {"_max", write_extreme<true>},
                                   {"_min", write_extreme<false>},
                                   {"argmax", write_arg_extreme<true>},
                                   {"argmin", write_arg_extreme<false>},
                                   {"softmax", write_softmax},
                                   {"log_softmax", write_log_softmax},
                                   {"layer_norm", write_layer_norm},
                                   {"rms_norm", write_rms_norm},
                                   {"_batch_norm_eval", write_batch_norm},
                                   {"group_norm", write_group_norm},
                                   {"_cumsum", write_cumsum},
                                   {"topk", write_topk},
                                   {"sort", write_sort}};
  return rules;
}

}  // namespace lunagrad::onnx_export

// Pooling and interpolation.
#include <algorithm>

#include "runtime/ops.h"
#include "script/onnx/rule.h"

namespace lunagrad::onnx_export {
namespace {

using Sizes = std::vector<int64_t>;

// The windows of a pool as ONNX attributes. ceil_mode becomes padding at the end: ONNX's own ceil_mode also
// counts windows that begin in the padding after the input.
struct Windows {
  Sizes kernel, stride, padding, dilation, overhang;
  bool overhangs = false;

  Windows(const Site& site, int dims, const Dims& dilations)
      : kernel(spread(site.call.list(0), dims)),
        stride(site.call.params[1].present() && !site.call.list(1).empty() ? spread(site.call.list(1), dims)
                                                                           : kernel),
        padding(spread(site.call.list(2), dims)),
        dilation(spread(dilations, dims)) {
    for (size_t d = 0; d < size_t(dims); ++d) {
      const int at = site.shape().size() - dims + int(d);
      const int64_t reach = (site.call.output().size(at) - 1) * stride[d] + dilation[d] * (kernel[d] - 1) + 1;
      overhang.push_back(std::max<int64_t>(0, reach - site.shape()[at] - 2 * padding[d]));
      overhangs |= overhang[d] > 0;
    }
  }
  Sizes pads() const {
    Sizes all = padding;
    for (size_t d = 0; d < padding.size(); ++d) all.push_back(padding[d] + overhang[d]);
    return all;
  }
};

template <int dims>
void write_max_pool(const Site& site) {
  const Windows w(site, dims, site.call.list(3));
  with_batch(site, dims, [&](const std::string& x) {
    return site.add(
        "MaxPool", {x},
        {{"kernel_shape", w.kernel}, {"strides", w.stride}, {"pads", w.pads()}, {"dilations", w.dilation}});
  });
}

template <int dims>
void write_avg_pool(const Site& site) {
  const Call& call = site.call;
  const Windows w(site, dims, Dims{1});
  const bool divided = dims == 2 && call.params[5].present();
  const bool count_padding = call.flag(4) || divided;
  with_batch(site, dims, [&](std::string x) {
    Sizes pads = w.pads();
    if (count_padding && w.overhangs) {
      // The mean counts the padding, but not the elements that ceil_mode adds. So a Pad adds the padding.
      Sizes zeros(size_t(2 * (dims + 2)), 0);
      for (size_t d = 0; d < size_t(dims); ++d) zeros[2 + d] = zeros[size_t(dims) + 4 + d] = w.padding[d];
      x = site.add("Pad", {x, site.graph().integers(zeros)});
      pads.assign(size_t(dims), 0);
      pads.insert(pads.end(), w.overhang.begin(), w.overhang.end());
      if (divided) site.refuse("divisor_override together with ceil_mode has no ONNX form");
    }
    const bool include = count_padding && !w.overhangs;
    const std::string y = site.add("AveragePool", {x},
                                   {{"kernel_shape", w.kernel},
                                    {"strides", w.stride},
                                    {"pads", pads},
                                    {"count_include_pad", int64_t(include)}});
    if (!divided) return y;
    int64_t count = 1;
    for (const int64_t k : w.kernel) count *= k;
    return site.add("Mul", {y, site.number(double(count) / double(call.integer(5)))});
  });
}

// --- adaptive pools ---

// The window sizes when the windows divide the input evenly; otherwise empty.
Sizes even_windows(const Site& site, int dims) {
  Sizes kernel;
  for (int d = 0; d < dims; ++d) {
    const int at = site.shape().size() - dims + d;
    const int64_t in = site.shape()[at], out = site.call.output().size(at);
    if (out == 0 || in % out != 0) return {};
    kernel.push_back(in / out);
  }
  return kernel;
}

// A matrix [in, n]: multiplying by it gives the means of n windows over `in` elements.
Tensor averages(int64_t in, int64_t n, DType type) {
  std::vector<double> matrix(size_t(in * n));
  for (int64_t w = 0; w < n; ++w) {
    const int64_t start = w * in / n, end = ((w + 1) * in + n - 1) / n;
    for (int64_t i = start; i < end; ++i) matrix[size_t(i * n + w)] = 1 / double(end - start);
  }
  const NoGrad off;
  return to(Tensor::from<double>(matrix, {in, n}), type);
}

template <int dims>
void write_adaptive_avg(const Site& site) {
  const Sizes kernel = even_windows(site, dims);
  with_batch(site, dims, [&](std::string x) {
    if (!kernel.empty() && site.call.output().size(-1) == 1 && site.call.output().size(-dims) == 1)
      return site.add("GlobalAveragePool", {x});
    if (!kernel.empty()) return site.add("AveragePool", {x}, {{"kernel_shape", kernel}, {"strides", kernel}});
    // Uneven windows: for each dim a product with the matrix of averages().
    const auto average = [&](int dim) {
      const Tensor& y = site.call.output();
      const int64_t in = site.shape()[dim < 0 ? dim + site.shape().size() : dim];
      x = site.add("MatMul", {x, site.graph().tensor(averages(in, y.size(dim), y.dtype()))});
    };
    average(-1);
    if (dims == 2) {
      const Sizes swapped{0, 1, 3, 2};
      x = site.add("Transpose", {x}, {{"perm", swapped}});
      average(-2);
      x = site.add("Transpose", {x}, {{"perm", swapped}});
    }
    return x;
  });
}

void write_adaptive_max(const Site& site) {
  const Sizes kernel = even_windows(site, 2);
  if (kernel.empty())
    site.refuse(text("ONNX has no windows that divide ", site.shape(), " unevenly into ",
                     site.call.output().shape()));
  with_batch(site, 2, [&](const std::string& x) {
    return site.add("MaxPool", {x}, {{"kernel_shape", kernel}, {"strides", kernel}});
  });
}

// --- interpolate ---

void write_interpolate(const Site& site) {
  enum { kSize, kScaleFactor, kMode, kAlignCorners };
  constexpr int64_t kNearest = 0, kNearestExact = 6;
  const Call& call = site.call;
  const bool floors = call.integer(kMode) == kNearest, rounds = call.integer(kMode) == kNearestExact;
  const char* const coordinates = floors                     ? "asymmetric"
                                  : call.flag(kAlignCorners) ? "align_corners"
                                                             : "half_pixel";
  std::string scales, sizes;
  if (call.params[kScaleFactor].present()) {
    std::vector<float> factors(size_t(site.shape().size()), float(site.real(kScaleFactor)));
    factors[0] = factors[1] = 1;
    scales = site.graph().tensor(Tensor::from<float>(factors, {int64_t(factors.size())}));
  } else {
    sizes = site.graph().sizes(list_of(call.output().shape()));
  }
  std::vector<Attribute> attributes = {{"mode", floors || rounds ? "nearest" : "linear"},
                                       {"coordinate_transformation_mode", coordinates}};
  if (floors) attributes.push_back({"nearest_mode", "floor"});
  if (rounds) attributes.push_back({"nearest_mode", "round_prefer_ceil"});
  site.give(0, site.add("Resize", {site.in(0), "", scales, sizes}, attributes));
}

}  // namespace

std::span<const Rule> window_rules() {
  static constexpr Rule rules[] = {{"max_pool1d", write_max_pool<1>},
                                   {"max_pool2d", write_max_pool<2>},
                                   {"avg_pool1d", write_avg_pool<1>},
                                   {"avg_pool2d", write_avg_pool<2>},
                                   {"adaptive_avg_pool1d", write_adaptive_avg<1>},
                                   {"adaptive_avg_pool2d", write_adaptive_avg<2>},
                                   {"adaptive_max_pool2d", write_adaptive_max},
                                   {"interpolate", write_interpolate}};
  return rules;
}

}  // namespace lunagrad::onnx_export

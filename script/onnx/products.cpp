// Matrix products and convolutions.
#include "runtime/ops/elementwise/activation.h"
#include "script/onnx/rule.h"

namespace lunagrad::onnx_export {
namespace {

// A 2-d input: a Gemm, which transposes the weight itself (transB). More dims: a MatMul with a Transpose.
void write_linear(const Site& site) {
  if (has_activation(site.call)) return site.compose();
  if (site.shape().size() == 2) {
    site.give(0, site.add("Gemm", {site.in(0), site.in(1), site.in(2)}, {{"transB", int64_t(1)}}));
    return;
  }
  const std::string weight = site.add("Transpose", {site.in(1)}, {{"perm", std::vector<int64_t>{1, 0}}});
  const std::string product = site.add("MatMul", {site.in(0), weight});
  site.give(0, site.call.has(2) ? site.add("Add", {product, site.in(2)}) : product);
}

void write_matmul(const Site& site) { site.give(0, site.add("MatMul", {site.in(0), site.in(1)})); }

// --- convolutions ---

template <int dims>
void write_conv(const Site& site) {
  if (has_activation(site.call)) return site.compose();
  enum { kStride, kPadding, kDilation, kGroups };
  const Call& call = site.call;
  const std::vector<int64_t> dilation = spread(call.list(kDilation), dims);
  std::vector<int64_t> kernel, before, after;
  for (int d = 0; d < dims; ++d) kernel.push_back(site.shape(1)[2 + d]);
  // Padding "valid" or "same". When "same" needs an odd number of elements, the end gets one more.
  if (call.params[kPadding].kind == lunagrad::Value::Kind::integer) {
    const bool same = call.integer(kPadding) == 1;
    for (size_t d = 0; d < size_t(dims); ++d) {
      const int64_t reach = same ? dilation[d] * (kernel[d] - 1) : 0;
      before.push_back(reach / 2);
      after.push_back(reach - reach / 2);
    }
  } else {
    before = after = spread(call.list(kPadding), dims);
  }
  before.insert(before.end(), after.begin(), after.end());
  with_batch(site, dims, [&](const std::string& x) {
    return site.add("Conv", {x, site.in(1), site.in(2)},
                    {{"kernel_shape", kernel},
                     {"strides", spread(call.list(kStride), dims)},
                     {"pads", before},
                     {"dilations", dilation},
                     {"group", call.integer(kGroups)}});
  });
}

template <int dims>
void write_conv_transpose(const Site& site) {
  enum { kStride, kPadding, kOutputPadding, kGroups, kDilation };
  const Call& call = site.call;
  std::vector<int64_t> kernel, pads = spread(call.list(kPadding), dims);
  for (int d = 0; d < dims; ++d) kernel.push_back(site.shape(1)[2 + d]);
  const std::vector<int64_t> behind = pads;
  pads.insert(pads.end(), behind.begin(), behind.end());
  with_batch(site, dims, [&](const std::string& x) {
    return site.add("ConvTranspose", {x, site.in(1), site.in(2)},
                    {{"kernel_shape", kernel},
                     {"strides", spread(call.list(kStride), dims)},
                     {"pads", pads},
                     {"output_padding", spread(call.list(kOutputPadding), dims)},
                     {"dilations", spread(call.list(kDilation), dims)},
                     {"group", call.integer(kGroups)}});
  });
}

}  // namespace

std::span<const Rule> product_rules() {
  static constexpr Rule rules[] = {{"linear", write_linear},
                                   {"matmul", write_matmul},
                                   {"conv1d", write_conv<1>},
                                   {"conv2d", write_conv<2>},
                                   {"conv3d", write_conv<3>},
                                   {"conv_transpose1d", write_conv_transpose<1>},
                                   {"conv_transpose2d", write_conv_transpose<2>},
                                   {"conv_transpose3d", write_conv_transpose<3>}};
  return rules;
}

}  // namespace lunagrad::onnx_export

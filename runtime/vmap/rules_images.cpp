// Ops on images [B, C, ...] that treat each image separately: the N batches become one.
#include "runtime/vmap/rules.h"

namespace lunagrad {
namespace {

// `full`: the number of dims of [B, C, ...]. A sample with one dim less is a single image, and N takes the
// place of B.
template <int full>
bool merged_images(const BatchedCall& call, Operands& out) {
  if (call.size == 0) return false;
  Operands in;
  bool alone = false;
  for (size_t i = 0; i < call.values.size(); ++i) {
    const int ndim = call.ndim(int(i));
    if (ndim != full && ndim != full - 1) return false;
    alone = ndim == full - 1;
    Tensor x = call.spread(int(i));
    if (!alone) {
      Shape shape = x.shape();
      shape[1] *= shape[0];
      shape.erase(0);
      x = reshape(x, shape);
    }
    in.push_back(std::move(x));
  }
  out = call.run(std::move(in));
  if (alone) return true;
  for (Tensor& y : out) {
    Shape shape = y.shape();
    shape[0] /= call.size;
    shape.insert(0, call.size);
    y = reshape(y, shape);
  }
  return true;
}

// Each sample must be a batch of images.
template <int full>
bool folded_images(const BatchedCall& call, Operands& out) {
  return call.batched == 1 && call.ndim(0) >= full && call.ndim(0) <= 4 && call.size > 0 &&
         (call.ndim(0) == 3 ? merged_images<3>(call, out) : merged_images<4>(call, out));
}

// Statistics of each image: only the input is batched.
bool group_normalized(const BatchedCall& call, Operands& out) {
  if (call.batched != 1 || call.size == 0 || call.ndim(0) < 2) return false;
  Operands in = call.values;
  const Shape whole = in[0].shape();
  Shape shape = whole;
  shape[1] *= shape[0];
  shape.erase(0);
  in[0] = reshape(in[0], shape);
  out = call.run(std::move(in));
  out[0] = reshape(out[0], whole);
  return out.size() == 1;
}

// Statistics of each channel over the images of a sample: N C channels.
bool batch_normalized(const BatchedCall& call, Operands& out) {
  if (call.size == 0 || call.ndim(0) < 2) return false;
  Tensor x = transpose(call.spread(0), 0, 1);
  Shape shape = x.shape();
  const int64_t channels = shape[2];
  shape[2] *= shape[1];
  shape.erase(1);
  Operands in{reshape(x, shape)};
  for (size_t i = 1; i < call.values.size(); ++i)
    in.push_back(call.has(int(i)) ? reshape(call.spread(int(i)), {call.size * channels}) : Tensor());
  out = call.run(std::move(in));
  for (Tensor& y : out) {
    if (y.ndim() == 1) {
      y = reshape(y, {call.size, channels});
      continue;
    }
    Shape apart = y.shape();
    apart[1] = channels;
    apart.insert(1, call.size);
    y = transpose(reshape(y, apart), 0, 1);
  }
  return true;
}

}  // namespace

std::span<const NamedRule> image_rules() {
  static constexpr NamedRule rules[] = {
      {"max_pool1d", merged_images<3>},          {"max_pool2d", merged_images<4>},
      {"avg_pool1d", merged_images<3>},          {"avg_pool2d", merged_images<4>},
      {"adaptive_avg_pool1d", merged_images<3>}, {"adaptive_avg_pool2d", merged_images<4>},
      {"adaptive_max_pool2d", merged_images<4>}, {"_max_pool1d_grad", merged_images<3>},
      {"_max_pool2d_grad", merged_images<4>},    {"_adaptive_max_pool2d_grad", merged_images<4>},
      {"interpolate", folded_images<3>},         {"im2col", folded_images<4>},
      {"group_norm", group_normalized},          {"_batch_norm_train", batch_normalized},
      {"_batch_norm_eval", batch_normalized},
  };
  return rules;
}

}  // namespace lunagrad

// Layers of images, whose samples are merged with the batch that the layer takes; and losses: the loss of
// each element of all samples, then the reduction over the dims of a sample.
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
  if (call.batched != 1 || call.ndim(0) < full || call.size == 0) return false;
  switch (call.ndim(0)) {
    case 3:
      return merged_images<3>(call, out);
    case 4:
      return merged_images<4>(call, out);
    case 5:
      return merged_images<5>(call, out);
    default:
      return false;
  }
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

// `each` is [N, ...], the losses of the elements.
Tensor reduced(const Tensor& each, Reduction reduction) {
  if (reduction == Reduction::none || (each.ndim() == 1 && reduction == Reduction::sum)) return each;
  if (each.ndim() == 1) return each;
  Dims dims;
  for (int d = 1; d < each.ndim(); ++d) dims.push_back(d);
  return reduction == Reduction::sum ? sum(each, dims) : mean(each, dims);
}

bool squared_error(const BatchedCall& call, Operands& out) {
  if (call.ndim(0) != call.ndim(1)) return false;
  const Tensor each = call.run({call.spread(0), call.spread(1)}, {Value(int64_t(Reduction::none))})[0];
  out = {reduced(each, Reduction(call.call.integer(0)))};
  return true;
}

// Covers class ids without weights. Samples are rows [C] with one id, or [B, C, ...] with ids [B, ...]. `out`
// gets the op's results for each row, before a reduction.
bool each_row(const BatchedCall& call, Operands& out) {
  if (call.has(2) || call.size == 0) return false;
  const int ndim = call.ndim(0);
  if (ndim == 0 || call.ndim(1) != ndim - 1) return false;
  Tensor input = call.spread(0), target = call.spread(1);
  if (ndim >= 2) {
    Shape shape = input.shape();
    shape[1] *= shape[0];
    shape.erase(0);
    input = reshape(input, shape);
    Shape flat = target.shape();
    flat[1] *= flat[0];
    flat.erase(0);
    target = reshape(target, flat);
  }
  Values params = call.call.params;
  params[1] = Value(int64_t(Reduction::none));
  out = call.run({input, target, Tensor()}, std::move(params));
  return true;
}
// How many rows of each sample count.
Tensor counted(const BatchedCall& call, DType type) {
  return reduced(to(ne(call.spread(1), Tensor::number(call.call.integer(0))), type), Reduction::sum);
}
Tensor reduced_rows(const BatchedCall& call, const Tensor& losses) {
  const auto reduction = Reduction(call.call.integer(1));
  const Tensor each = reshape(losses, call.spread(1).shape());
  if (reduction == Reduction::none) return each;
  const Tensor total = reduced(each, Reduction::sum);
  return reduction == Reduction::sum ? total : total / counted(call, total.dtype());
}

bool cross_entropy_rule(const BatchedCall& call, Operands& out) {
  Operands rows;
  if (!each_row(call, rows)) return false;
  out = {reduced_rows(call, rows[0]), reshape(rows[1], call.spread(1).shape())};
  return true;
}

// The second result is the weight of the rows, for a mean only.
bool nll_rule(const BatchedCall& call, Operands& out) {
  Operands rows;
  if (!each_row(call, rows)) return false;
  const Tensor loss = reduced_rows(call, rows[0]);
  const bool mean = Reduction(call.call.integer(1)) == Reduction::mean;
  out = {loss, mean ? counted(call, loss.dtype()) : zeros({call.size, 0}, loss.dtype(), loss.device())};
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

std::span<const NamedRule> loss_rules() {
  static constexpr NamedRule rules[] = {
      {"mse_loss", squared_error}, {"_cross_entropy", cross_entropy_rule}, {"_nll_loss", nll_rule}};
  return rules;
}

}  // namespace lunagrad

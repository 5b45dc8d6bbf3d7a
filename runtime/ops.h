#pragma once
// The operations that C++ calls: hosts, and the gradients and compositions of other operations. Names and
// meanings follow the Lua API, except that dims and positions count from 0 here. Each function runs the op
// record of the same name (op.h), so the tape records it. An op that only scripts call needs no function
// here: apply() (op.h) runs any record. In the comments N is the batch, C are channels or classes, and … any
// further dims. All functions throw Error for operands that do not fit.
#include <optional>
#include <string_view>

#include "runtime/core/op.h"

namespace lunagrad {

// The rows of elementwise.def: `Tensor exp(const Tensor& x)`, `Tensor add(const Tensor& a, const Tensor& b)`.
// Operands broadcast; parameters follow them as doubles.
#define LUNAGRAD_ELEMENTWISE_DECLARATIONS
#include "runtime/elementwise/declare.h"
#undef LUNAGRAD_ELEMENTWISE_DECLARATIONS

inline Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return sub(a, b); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return mul(a, b); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return div(a, b); }
inline Tensor operator-(const Tensor& a) { return neg(a); }
inline Tensor operator+(const Tensor& a, double b) { return add(a, Tensor::number(b)); }
inline Tensor operator-(const Tensor& a, double b) { return sub(a, Tensor::number(b)); }
inline Tensor operator*(const Tensor& a, double b) { return mul(a, Tensor::number(b)); }
inline Tensor operator/(const Tensor& a, double b) { return div(a, Tensor::number(b)); }
inline Tensor operator+(double a, const Tensor& b) { return add(Tensor::number(a), b); }
inline Tensor operator-(double a, const Tensor& b) { return sub(Tensor::number(a), b); }
inline Tensor operator*(double a, const Tensor& b) { return mul(Tensor::number(a), b); }
inline Tensor operator/(double a, const Tensor& b) { return div(Tensor::number(a), b); }

// create.cpp
Tensor full(const Shape&, const Value& value, DType = DType::f32, Device& = *context().device);
Tensor zeros(const Shape&, DType = DType::f32, Device& = *context().device);
Tensor ones(const Shape&, DType = DType::f32, Device& = *context().device);
Tensor zeros_like(const Tensor&);
Tensor ones_like(const Tensor&);
Tensor arange(double start, double end, double step, DType, Device& = *context().device);
Tensor linspace(double start, double end, int64_t steps, DType = DType::f32, Device& = *context().device);
Tensor eye(int64_t rows, int64_t columns, DType = DType::f32, Device& = *context().device);
Tensor rand(const Shape&, DType = DType::f32, Device& = *context().device);   // uniform in [0, 1)
Tensor randn(const Shape&, DType = DType::f32, Device& = *context().device);  // normal, mean 0, deviation 1
Tensor randint(int64_t low, int64_t high, const Shape&, DType = DType::i64, Device& = *context().device);
Tensor randperm(int64_t n, Device& = *context().device);  // i64
Tensor bernoulli(const Tensor& p);                        // 1 with probability p, else 0
Tensor tril(const Tensor&, int64_t diagonal = 0);         // the lower triangle of the last two dims, else 0
Tensor triu(const Tensor&, int64_t diagonal = 0);
Tensor fill_(const Tensor& x, double value);  // in place
// num_samples indices (from 0, i64) for each row of weights [n] or [rows, n]; a row need not sum to 1
Tensor multinomial(const Tensor& weights, int64_t num_samples, bool replacement = false);

// view.cpp, copy.cpp, join.cpp, cast.cpp: views, except where a comment says copy
Tensor to(const Tensor&, DType);                     // cast; the same tensor when the type is the same
Tensor to(const Tensor&, Device&);                   // copy to a device, differentiable
Tensor clone(const Tensor&);                         // a contiguous copy
Tensor contiguous(const Tensor&);                    // the tensor itself if it is contiguous, else a copy
Tensor copy_(const Tensor& x, const Tensor& value);  // in place; value is broadcast and cast
Tensor reshape(const Tensor&, const Shape&);  // one size may be -1; copies when strides do not allow a view
Tensor view(const Tensor&, const Shape&);     // a view; Error when strides do not allow it
Tensor flatten(const Tensor&, int first = 0, int last = -1);
Tensor squeeze(const Tensor&);
Tensor squeeze(const Tensor&, int dim);
Tensor unsqueeze(const Tensor&, int dim);
Tensor transpose(const Tensor&, int dim0, int dim1);
Tensor t(const Tensor&);  // of a matrix
Tensor permute(const Tensor&, const Dims&);
Tensor expand(const Tensor&, const Shape&);  // -1 keeps a size
Tensor narrow(const Tensor&, int dim, int64_t start, int64_t length);
Tensor slice(const Tensor&, int dim, int64_t first, int64_t last,
             int64_t step = 1);  // [first, last), step > 0
Tensor select(const Tensor&, int dim, int64_t index);
Tensor as_strided(const Tensor&, const Shape&, const Strides&,
                  int64_t offset);  // relative to the tensor's offset
Tensor as_strided_scatter(const Tensor& base, const Tensor& value, const Strides&, int64_t offset);
Tensor movedim(const Tensor&, const Dims& source, const Dims& destination);
Tensor diagonal(const Tensor&, int64_t offset = 0, int dim1 = 0, int dim2 = 1);  // a view, the diagonal last
// Windows of `size` elements, `step` apart, in a new last dim; a view.
Tensor unfold(const Tensor&, int dim, int64_t size, int64_t step);
Tensor cat(const TensorList&, int dim = 0);
Tensor stack(const TensorList&, int dim = 0);
Tensor hstack(const TensorList&);
Tensor vstack(const TensorList&);
Tensor sum_to(const Tensor&, const Shape&);  // sums the dims that broadcasting added

// rearrange.cpp: copies of the elements in another order, except where a comment says views
Tensor diag(const Tensor&, int64_t diagonal = 0);         // vector to matrix, or matrix to vector
TensorList meshgrid(const TensorList&, bool xy = false);  // views
Tensor tile(const Tensor&, const Dims& counts);
Tensor repeat_interleave(const Tensor&, int64_t repeats, std::optional<int> dim = {});
Tensor repeat_interleave(const Tensor&, const Tensor& repeats, std::optional<int> dim = {});
Tensor roll(const Tensor&, const Dims& shifts, const Dims& dims = {});  // dims {}: rolls the flattened tensor
Tensor flip(const Tensor&, const Dims& dims);

// pad.cpp: widths before and after, last dim first; negative widths crop, only in constant mode
enum class PadMode : uint8_t { constant, reflect, replicate, circular };
Tensor pad(const Tensor&, const Dims& widths, PadMode = PadMode::constant, double value = 0);

// reduce.cpp: dims {} = all
Tensor sum(const Tensor&, const Dims& dims = {}, bool keepdim = false);
Tensor mean(const Tensor&, const Dims& dims = {}, bool keepdim = false);
Tensor prod(const Tensor&, const Dims& dims = {}, bool keepdim = false);
Tensor var(const Tensor&, const Dims& dims = {}, int64_t correction = 1, bool keepdim = false);
Tensor stddev(const Tensor&, const Dims& dims = {}, int64_t correction = 1,
              bool keepdim = false);                                      // the op "std"
Tensor amax(const Tensor&, const Dims& dims = {}, bool keepdim = false);  // equal elements share the gradient
Tensor amin(const Tensor&, const Dims& dims = {}, bool keepdim = false);
Tensor max(const Tensor&);
Tensor min(const Tensor&);
std::pair<Tensor, Tensor> max(const Tensor&, int dim, bool keepdim = false);  // values, i64 indices
std::pair<Tensor, Tensor> min(const Tensor&, int dim, bool keepdim = false);
Tensor argmax(const Tensor&, std::optional<int> dim = {}, bool keepdim = false);
Tensor argmin(const Tensor&, std::optional<int> dim = {}, bool keepdim = false);
Tensor norm(const Tensor&, double p = 2, const Dims& dims = {}, bool keepdim = false);
Tensor logsumexp(const Tensor&, const Dims& dims, bool keepdim = false);
Tensor all(const Tensor&, const Dims& dims = {}, bool keepdim = false);
Tensor any(const Tensor&, const Dims& dims = {}, bool keepdim = false);

// scan.cpp, sort.cpp: indices are i64
Tensor cumsum(const Tensor&, int dim, bool exclusive = false);
Tensor cumprod(const Tensor&, int dim);
std::pair<Tensor, Tensor> sort(const Tensor&, int dim = -1, bool descending = false);  // stable
Tensor argsort(const Tensor&, int dim = -1, bool descending = false);
std::pair<Tensor, Tensor> topk(const Tensor&, int64_t k, int dim = -1, bool largest = true);
Tensor median(const Tensor&);  // of an even number of elements, the lower of the two middle ones

// complex.cpp; conj, norm_sq and abs are rows of elementwise.def
Tensor complex(const Tensor& real, const Tensor& imag);  // two f32 or f64 tensors; they broadcast
Tensor real(const Tensor&);                              // a view; returns a real tensor unchanged
Tensor imag(const Tensor&);                              // a view; Error for a real tensor
Tensor angle(const Tensor&);                             // -pi to pi
Tensor view_as_real(const Tensor&);                      // [..] -> [.., 2], a view
Tensor view_as_complex(const Tensor&);  // [.., 2] -> [..], a view; the last dim must have stride 1

// matmul.cpp: [..., M, K] @ [..., K, N], batches broadcast, vectors as in PyTorch
Tensor matmul(const Tensor&, const Tensor&);
// activation(x W^T + bias); x [..., in], weight [out, in], bias [out] or undefined
enum class Activation : uint8_t { none, relu, tanh, sigmoid };
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {}, Activation = Activation::none);
Tensor outer(const Tensor&, const Tensor&);
Tensor trace(const Tensor&);
// beta input + alpha a b; a [B, M, K], b [B, K, N]
Tensor baddbmm(const Tensor& input, const Tensor& a, const Tensor& b, double beta = 1, double alpha = 1);

// einsum.cpp
Tensor einsum(std::string_view equation, const TensorList&);  // "bij,bjk->bik"
Tensor tensordot(const Tensor&, const Tensor&, const Dims& dims_self, const Dims& dims_other);

// arithmetic.cpp: hidden records for calls with parameters that the public record lacks (Op::short_form): add
// with alpha, div with a rounding mode, clamp between tensors, sum with a dtype. The function writes the
// result into operand 0.
Tensor run_form_in_place(const Op& form, Operands in, Values params);
// Whether elements differ by at most atol + rtol |b|.
Tensor isclose(const Tensor& a, const Tensor& b, double rtol = 1e-5, double atol = 1e-8,
               bool equal_nan = false);

// activation.cpp
Tensor glu(const Tensor&, int dim = -1);            // the first half times the sigmoid of the second
Tensor prelu(const Tensor&, const Tensor& weight);  // weight [C] for dim 1, or of one element
Tensor softmin(const Tensor&, int dim);

// optimizer.cpp: one step over all tensors of a parameter group, in place, in one pass. The lists have equal
// lengths; states start as zeros. The steps of the other optimizers are in runtime/optimizer/rules.h.
struct SgdOptions {
  double lr = 1e-3, momentum = 0, dampening = 0, weight_decay = 0;
  int64_t step = 1;  // from 1; the first step has no momentum yet
  bool nesterov = false, maximize = false;
};
void sgd_step(const TensorList& params, const TensorList& grads, const TensorList& momentum_buffers,
              const SgdOptions&);  // empty without momentum
struct AdamOptions {
  double lr = 1e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0;
  int64_t step = 1;  // from 1
  bool maximize = false;
  bool decoupled = false;  // true: AdamW
};
void adam_step(const TensorList& params, const TensorList& grads, const TensorList& exp_avgs,
               const TensorList& exp_avg_sqs,
               const TensorList& max_exp_avg_sqs,  // with amsgrad, else empty
               const AdamOptions&);
// Scales the gradients in place so that their total norm is at most max_norm; returns the total norm before,
// 0-d.
Tensor clip_grad_norm_(const TensorList& grads, double max_norm, double norm_type = 2);

// conv.cpp: x [N, C, spatial…] or [C, spatial…], weight [O, C / groups, kernel…], bias [O] or undefined.
// stride, padding and dilation have one number for all spatial dims, or one for each.
Tensor conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias = {}, const Dims& stride = {1},
              const Dims& padding = {0}, const Dims& dilation = {1}, int64_t groups = 1,
              Activation = Activation::none);
Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias = {}, const Dims& stride = {1},
              const Dims& padding = {0}, const Dims& dilation = {1}, int64_t groups = 1,
              Activation = Activation::none);
Tensor conv3d(const Tensor& x, const Tensor& weight, const Tensor& bias = {}, const Dims& stride = {1},
              const Dims& padding = {0}, const Dims& dilation = {1}, int64_t groups = 1,
              Activation = Activation::none);
// weight [C, O / groups, kernel…]; output_padding enlarges the result at the end of each dim
Tensor conv_transpose1d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
                        const Dims& stride = {1}, const Dims& padding = {0}, const Dims& output_padding = {0},
                        int64_t groups = 1, const Dims& dilation = {1});
Tensor conv_transpose2d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
                        const Dims& stride = {1}, const Dims& padding = {0}, const Dims& output_padding = {0},
                        int64_t groups = 1, const Dims& dilation = {1});

// pool.cpp: x [N, C, spatial…] or [C, spatial…]; stride {} means kernel_size; padding is at most half of
// kernel_size
Tensor max_pool1d(const Tensor& x, const Dims& kernel_size, const Dims& stride = {},
                  const Dims& padding = {0}, const Dims& dilation = {1}, bool ceil_mode = false);
Tensor max_pool2d(const Tensor& x, const Dims& kernel_size, const Dims& stride = {},
                  const Dims& padding = {0}, const Dims& dilation = {1}, bool ceil_mode = false);
// The sum of each window divided by its number of elements, with or without the padding, or by
// divisor_override
Tensor avg_pool1d(const Tensor& x, const Dims& kernel_size, const Dims& stride = {},
                  const Dims& padding = {0}, bool ceil_mode = false, bool count_include_pad = true);
Tensor avg_pool2d(const Tensor& x, const Dims& kernel_size, const Dims& stride = {},
                  const Dims& padding = {0}, bool ceil_mode = false, bool count_include_pad = true,
                  std::optional<int64_t> divisor_override = {});
// The window of result i of n is i * size / n up to (i + 1) * size / n, rounded outwards
Tensor adaptive_avg_pool1d(const Tensor& x, const Dims& output_size);
Tensor adaptive_avg_pool2d(const Tensor& x, const Dims& output_size);
Tensor adaptive_max_pool2d(const Tensor& x, const Dims& output_size);

// resize.cpp: x [N, C, spatial…]
enum class Interpolation : uint8_t { nearest, linear, bilinear };
Tensor interpolate(const Tensor& x, const Dims& size, Interpolation = Interpolation::nearest,
                   bool align_corners = false);
// The windows of x [N, C, H, W] as columns [N, C kH kW, windows]; and the inverse, which sums columns into an
// image
Tensor im2col(const Tensor& x, const Dims& kernel_size, const Dims& dilation = {1}, const Dims& padding = {0},
              const Dims& stride = {1});
Tensor col2im(const Tensor& columns, const Dims& output_size, const Dims& kernel_size,
              const Dims& dilation = {1}, const Dims& padding = {0}, const Dims& stride = {1});

// norm.cpp: normalization over the last dims; normalized_shape is their sizes. weight and bias may be
// undefined.
Tensor layer_norm(const Tensor& x, const Shape& normalized_shape, const Tensor& weight = {},
                  const Tensor& bias = {}, double eps = 1e-5);
Tensor rms_norm(const Tensor& x, const Shape& normalized_shape, const Tensor& weight = {},
                std::optional<double> eps = {});  // default: the epsilon of the type
Tensor normalize(const Tensor&, double p = 2, int dim = 1, double eps = 1e-12);

// batch_norm.cpp, group_norm.cpp: x [N, C, …]; weight, bias and the running statistics are [C] or undefined.
// With training (use_input_stats) the running statistics are updated in place.
Tensor batch_norm(const Tensor& x, const Tensor& running_mean, const Tensor& running_var,
                  const Tensor& weight = {}, const Tensor& bias = {}, bool training = false,
                  double momentum = 0.1, double eps = 1e-5);
Tensor group_norm(const Tensor& x, int64_t num_groups, const Tensor& weight = {}, const Tensor& bias = {},
                  double eps = 1e-5);
Tensor instance_norm(const Tensor& x, const Tensor& running_mean = {}, const Tensor& running_var = {},
                     const Tensor& weight = {}, const Tensor& bias = {}, bool use_input_stats = true,
                     double momentum = 0.1, double eps = 1e-5);

// attention.cpp: softmax(q k^T scale + mask) v; q [..., L, E], k [..., S, E], v [..., S, Ev]. The mask
// broadcasts to [..., L, S]; a bool mask is true where a key takes part, any other mask is added to the
// scores.
struct AttentionOptions {
  Tensor attn_mask;
  double dropout_p = 0;
  bool is_causal = false;
  std::optional<double> scale;  // 1 / sqrt(E)
  double softcap = 0;           // c > 0: scores become c tanh(score / c) before masking
};
Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const AttentionOptions& = {});

// rope.cpp: x [..., T, D], cos and sin [T, R / 2]; rotates the first R features of each row
Tensor rope(const Tensor& x, const Tensor& cos, const Tensor& sin, bool interleaved = false);

// softmax.cpp
Tensor softmax(const Tensor&, int dim);
Tensor log_softmax(const Tensor&, int dim);

// dropout.cpp
Tensor dropout(const Tensor&, double p = 0.5, bool training = true);

// index.cpp: indices are i64, i32 or u8 and count from 0
Tensor index_select(const Tensor&, int dim, const Tensor& index);  // index [n]
Tensor index_add(const Tensor&, int dim, const Tensor& index, const Tensor& source, double alpha = 1);
Tensor gather(const Tensor&, int dim, const Tensor& index);
Tensor scatter_add(const Tensor&, int dim, const Tensor& index, const Tensor& source);
// scatter.cpp: writing by index; among equal indices the last counts
Tensor scatter(const Tensor&, int dim, const Tensor& index, const Tensor& source);  // source may be a number
Tensor index_copy(const Tensor&, int dim, const Tensor& index, const Tensor& source);
Tensor index_fill(const Tensor&, int dim, const Tensor& index,
                  const Tensor& value);           // value: 0-d or a number
Tensor take(const Tensor&, const Tensor& index);  // indices of the flattened tensor
Tensor take_along_dim(const Tensor&, const Tensor& indices, std::optional<int> dim = {});
Tensor embedding(const Tensor& ids, const Tensor& weight, std::optional<int64_t> padding_idx = {});
Tensor masked_fill(const Tensor&, const Tensor& mask, const Value& value);
Tensor masked_select(const Tensor&, const Tensor& mask);
Tensor nonzero(const Tensor&);                                // i64 [count, ndim]
Tensor one_hot(const Tensor& ids, int64_t num_classes = -1);  // i64; -1: the largest id + 1

// loss.cpp
enum class Reduction : uint8_t { none, mean, sum };
Tensor mse_loss(const Tensor& input, const Tensor& target, Reduction = Reduction::mean);
struct CrossEntropyOptions {
  Tensor weight;  // [C], or undefined
  int64_t ignore_index = -100;
  Reduction reduction = Reduction::mean;
  double label_smoothing = 0;
};
// input [N, C, …] or [C]; target: class ids [N, …] or [], or probabilities of input's shape.
Tensor cross_entropy(const Tensor& input, const Tensor& target, const CrossEntropyOptions& = {});

// ctc.cpp: log_probs [T, N, C] or [T, C]; targets [N, S] or all of them in one vector; lengths [N]; classes
// count from 0
Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                const Tensor& target_lengths, int64_t blank = 0, Reduction = Reduction::mean,
                bool zero_infinity = false);

// rnn.cpp: x [T, N, I] ([N, T, I] with batch_first) or [T, I]; h0 and c0 [layers * directions, N, H] or
// undefined (zeros). params has, for each layer and direction, weight_ih [gates H, I], weight_hh [gates H,
// H], bias_ih and bias_hh. Results: the states of the last layer, then h and, for lstm, c after the last
// step.
struct RecurrentOptions {
  bool has_biases = true;
  int64_t num_layers = 1;
  double dropout = 0;  // between layers, if train is set
  bool train = false, bidirectional = false, batch_first = false;
};
Operands rnn_tanh(const Tensor& x, const Tensor& h0, const TensorList& params, const RecurrentOptions& = {});
Operands rnn_relu(const Tensor& x, const Tensor& h0, const TensorList& params, const RecurrentOptions& = {});
Operands lstm(const Tensor& x, const Tensor& h0, const Tensor& c0, const TensorList& params,
              const RecurrentOptions& = {});
Operands gru(const Tensor& x, const Tensor& h0, const TensorList& params, const RecurrentOptions& = {});

}  // namespace lunagrad

#pragma once
// The families of operations: each file has a function that lists its records. run/all_ops.cpp joins the
// lists to all_ops().
#include "runtime/core/op.h"
#include "runtime/ops.h"
#include "runtime/tape/tape.h"

namespace lunagrad {

// Short names for records: a parameter, and what examples have.
inline const ParamSpec kDType{.name = "dtype", .kind = ParamKind::dtype, .optional = true};
inline constexpr auto kIndex = ExampleOperand::Kind::index;
inline constexpr auto kFloating = OpExample::Types::floating;

std::span<const Op* const> elementwise_ops();
std::span<const Op* const> special_ops();
std::span<const Op* const> float_parts_ops();
std::span<const Op* const> create_ops();
std::span<const Op* const> random_ops();
std::span<const Op* const> poisson_ops();
std::span<const Op* const> cast_ops();
std::span<const Op* const> view_ops();
std::span<const Op* const> copy_ops();
std::span<const Op* const> join_ops();
std::span<const Op* const> rearrange_ops();
std::span<const Op* const> arrange_ops();
std::span<const Op* const> unfold_ops();
std::span<const Op* const> pad_ops();
std::span<const Op* const> reduce_ops();
std::span<const Op* const> vector_norm_ops();
std::span<const Op* const> covariance_ops();
std::span<const Op* const> scan_ops();
std::span<const Op* const> running_ops();
std::span<const Op* const> sort_ops();
std::span<const Op* const> quantile_ops();
std::span<const Op* const> unique_ops();
std::span<const Op* const> count_ops();
std::span<const Op* const> arithmetic_ops();
std::span<const Op* const> matmul_ops();
std::span<const Op* const> einsum_ops();
std::span<const Op* const> activation_ops();
std::span<const Op* const> softmax_ops();
std::span<const Op* const> norm_ops();
std::span<const Op* const> batch_norm_ops();
std::span<const Op* const> group_norm_ops();
std::span<const Op* const> attention_ops();
std::span<const Op* const> rope_ops();
std::span<const Op* const> conv_ops();
std::span<const Op* const> pool_ops();
std::span<const Op* const> resize_ops();
std::span<const Op* const> index_ops();
std::span<const Op* const> embedding_ops();
std::span<const Op* const> scatter_ops();
std::span<const Op* const> view_scatter_ops();
std::span<const Op* const> place_ops();
std::span<const Op* const> position_ops();
std::span<const Op* const> gather_with_ops();
std::span<const Op* const> complex_ops();
std::span<const Op* const> fft_along_ops();
std::span<const Op* const> fft_ops();
std::span<const Op* const> stft_ops();
std::span<const Op* const> loss_ops();
std::span<const Op* const> margin_loss_ops();
std::span<const Op* const> ctc_ops();
std::span<const Op* const> rnn_ops();
std::span<const Op* const> rnn_layer_ops();
std::span<const Op* const> dropout_ops();
std::span<const Op* const> optimizer_ops();
std::span<const Op* const> linalg_solve_ops();
std::span<const Op* const> linalg_cholesky_ops();
std::span<const Op* const> linalg_lu_ops();
std::span<const Op* const> linalg_ldl_ops();
std::span<const Op* const> linalg_checked_ops();
std::span<const Op* const> linalg_qr_ops();
std::span<const Op* const> linalg_svd_ops();
std::span<const Op* const> linalg_eigen_ops();
std::span<const Op* const> linalg_norm_ops();
std::span<const Op* const> linalg_product_ops();
std::span<const Op* const> cdist_ops();

// unfold.cpp, for stft.cpp: adds up windows […, n, size], whose index is in dim `dim`, at distances of `step`
// in a dim of `length` elements.
Tensor fold_windows(const Tensor&, int dim, int64_t step, int64_t length);

// softmax.cpp, for reduce.cpp: log(sum(exp(x))) along one dim.
Tensor logsumexp_along(const Tensor&, int dim);

}  // namespace lunagrad

// The list of all ops, declared in op.h, and of all row kernels, declared in row_kernel.h: the lists of the
// families' files, joined. Both are used below the families and are implemented above them.
#include <algorithm>
#include <unordered_map>
#include <vector>

#include "runtime/elementwise/elementwise.h"
#include "runtime/ops/by_rows.h"
#include "runtime/ops/families.h"

namespace lunagrad {

std::span<const Op* const> all_ops() {
  static const std::vector<const Op*> all = [] {
    std::vector<const Op*> list;
    for (const auto family : {elementwise_ops,
                              special_ops,
                              float_parts_ops,
                              create_ops,
                              random_ops,
                              poisson_ops,
                              cast_ops,
                              view_ops,
                              unfold_ops,
                              copy_ops,
                              join_ops,
                              rearrange_ops,
                              arrange_ops,
                              pad_ops,
                              reduce_ops,
                              vector_norm_ops,
                              covariance_ops,
                              scan_ops,
                              running_ops,
                              sort_ops,
                              quantile_ops,
                              unique_ops,
                              count_ops,
                              arithmetic_ops,
                              matmul_ops,
                              einsum_ops,
                              softmax_ops,
                              activation_ops,
                              norm_ops,
                              batch_norm_ops,
                              group_norm_ops,
                              attention_ops,
                              rope_ops,
                              conv_ops,
                              pool_ops,
                              resize_ops,
                              index_ops,
                              embedding_ops,
                              scatter_ops,
                              view_scatter_ops,
                              place_ops,
                              position_ops,
                              gather_with_ops,
                              complex_ops,
                              fft_along_ops,
                              fft_ops,
                              stft_ops,
                              loss_ops,
                              margin_loss_ops,
                              ctc_ops,
                              rnn_ops,
                              rnn_layer_ops,
                              dropout_ops,
                              optimizer_ops,
                              linalg_solve_ops,
                              linalg_cholesky_ops,
                              linalg_lu_ops,
                              linalg_ldl_ops,
                              linalg_checked_ops,
                              linalg_qr_ops,
                              linalg_svd_ops,
                              linalg_eigen_ops,
                              linalg_norm_ops,
                              linalg_product_ops,
                              cdist_ops}) {
      const auto ops = family();
      list.insert(list.end(), ops.begin(), ops.end());
    }
    return list;
  }();
  return all;
}

const Op* find_op(std::string_view name) {
  static const std::unordered_map<std::string_view, const Op*> by_name = [] {
    std::unordered_map<std::string_view, const Op*> map;
    for (const Op* op : all_ops()) map.emplace(op->name, op);
    return map;
  }();
  const auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : found->second;
}

std::vector<OpExample> examples_of(const Op& op) {
  return op.elementwise >= 0 && !op.hidden() ? row_examples(op) : op.examples;
}

std::unique_ptr<RowKernel> row_kernel(const Call& call) {
  static const std::vector<RowKernelMaker> all = [] {
    std::vector<RowKernelMaker> makers;
    for (const auto& family :
         {softmax_row_kernels(), scan_row_kernels(), norm_row_kernels(), group_norm_row_kernels(),
          loss_row_kernels(), reduced_loss_row_kernels(), class_loss_row_kernels()})
      makers.insert(makers.end(), family.begin(), family.end());
    return makers;
  }();
  const auto maker =
      std::find_if(all.begin(), all.end(), [&](const RowKernelMaker& m) { return m.op == call.op; });
  return (call.output().dtype() == DType::f64 ? maker->f64 : maker->f32)(call);
}

}  // namespace lunagrad

// No composed op makes tensors that are much larger than its operands and results together.
#include <doctest/doctest.h>

#include <cstdlib>

#include "tests/support/op_memory.h"

namespace lunagrad::tests {
namespace {

constexpr double kMost = 4;

// Ops that take more, with the reason. None of them grows faster than its operands and results, except where
// the reason says so.
const std::map<std::string, const char*> kLarge = {
    {"_prod_dtype", "the operand is cast to f64, which the test asks of f32"},
    {"_sum_dtype", "the operand is cast to f64, which the test asks of f32"},
    {"bilinear", "the products of the weight and input2, for each feature of input1"},
    {"binary_cross_entropy_with_logits", "the terms of pos_weight are tensors of the operand's size"},
    {"conv3d", "the gradient multiplies the windows of a slice, which overlap"},
    {"conv_tbc", "the gradient of the weight is added up in parts, of 8 MiB at most"},
    {"cumprod", "the gradient of few rows has two scans"},
    {"embedding_bag", "the gradient of mode max has a row for each id: ids times columns"},
    {"fft.fft", "a length with a large prime factor is a convolution of more than twice the length"},
    {"fft.hfft", "as fft.fft"},
    {"fft.ifft", "as fft.fft"},
    {"fft.ihfft", "as fft.fft"},
    {"fft.irfft", "as fft.fft"},
    {"fft.rfft", "as fft.fft"},
    {"gru", "three gates for each step"},
    {"histc", "i64 places of f32 elements, and their sort"},
    {"interpolate", "weights and i64 places of each axis' taps"},
    {"linalg.householder_product",
     "the gradient keeps the product after each reflector: columns times the result"},
    {"linalg.matrix_exp", "powers of the matrix, and the terms of a rational function"},
    {"linalg.norm", "the gradient of a power has three tensors of the operand's size"},
    {"linalg.vector_norm", "as linalg.norm"},
    {"matrix_exp", "as linalg.matrix_exp"},
    {"mode", "a sort with i64 places, and the runs of equal elements"},
    {"multi_margin_loss", "one row of margins, their terms and a mask"},
    {"multilabel_margin_loss", "a sort with i64 places, and running sums"},
    {"nanquantile", "a sort with i64 places"},
    {"norm", "as linalg.norm"},
    {"orgqr", "as linalg.householder_product"},
    {"ormqr", "as linalg.householder_product"},
    {"pinverse", "products of the singular vectors"},
    {"poisson_nll_loss", "Stirling's terms are tensors of the operand's size"},
    {"quantile", "a sort with i64 places"},
    {"vector_norm", "as linalg.norm"},
};

TEST_CASE("composed ops take at most four times the memory of operands and results") {
  const auto forward = peak_ratios(cpu_device(), false), both = peak_ratios(cpu_device(), true);
  const bool best_target = !std::getenv("LUNAGRAD_SIMD");  // products of the others copy less
  for (const auto& [op, peak] : forward) {
    const PeakOfOp& larger = both.at(op).ratio > peak.ratio ? both.at(op) : peak;
    if (!kLarge.count(op))
      CHECK_MESSAGE(larger.ratio <= kMost, op << " takes " << larger.ratio << " times: " << larger.sample);
    else if (best_target)
      CHECK_MESSAGE(larger.ratio > 3, op << " takes " << larger.ratio << " times: it is listed for nothing");
  }
  for (const auto& [op, reason] : kLarge) CHECK_MESSAGE(forward.count(op) == 1, op);
}

TEST_CASE("distances and cosines of rows take at most half as much again as operands and results") {
  const auto forward = peak_ratios(cpu_device(), false), both = peak_ratios(cpu_device(), true);
  for (const std::string op : {"cdist", "pdist", "pairwise_distance", "cosine_similarity",
                               "triplet_margin_loss", "cosine_embedding_loss"}) {
    CHECK_MESSAGE(forward.at(op).ratio <= 1.5, op << " takes " << forward.at(op).ratio << " times");
    CHECK_MESSAGE(both.at(op).ratio <= 1.5,
                  op << " and its gradient take " << both.at(op).ratio << " times: " << both.at(op).sample);
  }
  // The losses compute 16-bit operands in f32, and the other measures one row of them at a time.
  const auto halves = peak_ratios(cpu_device(), true, DType::bf16);
  for (const std::string op : {"cdist", "pdist"})
    CHECK_MESSAGE(halves.at(op).ratio <= 1.5, op << " of bf16 and its gradient take " << halves.at(op).ratio
                                                 << " times: " << halves.at(op).sample);
}

}  // namespace
}  // namespace lunagrad::tests

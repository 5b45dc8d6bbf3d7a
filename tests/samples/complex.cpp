#include "runtime/elementwise/elementwise.h"
#include "tests/samples/samples.h"

namespace lunagrad::tests {
namespace {

// Samples of the elementwise rows that take complex numbers: all operands complex, then each operand real
// with complex others.
void add_elementwise(std::vector<Sample>& rows) {
  for (const Op* op : all_ops()) {
    if (op->elementwise < 0 || op->hidden() || !op->complex) continue;
    const RowTraits& traits = row_traits(op->elementwise);
    for (int odd = -1; odd < (traits.arity > 1 ? traits.arity : 0); ++odd) {
      Sample row{op->name, {}};
      for (int i = 0; i < traits.arity; ++i)
        row.inputs.push_back(i == odd ? real({3}, traits.lo, traits.hi)
                                      : complex_numbers({2, 3}, traits.lo, traits.hi));
      if (std::string_view(op->name) == "where") row.inputs[0] = boolean({2, 3});
      rows.push_back(row);
    }
  }
}

std::vector<Sample> complex_samples() {
  const auto z = [](const Shape& shape) { return complex_numbers(shape); };
  std::vector<Sample> rows = {
      {"complex", {real({2, 3}), real({2, 3})}},
      {"complex", {real({3}), real({2, 1})}},
      {"complex", {real({}), real({})}},
      {"real", {z({2, 3})}},
      {"real", {real({2, 3})}},
      {"imag", {z({2, 3})}},
      {"angle", {z({2, 3})}},
      {"angle", {real({2, 3})}},
      {"view_as_real", {z({2, 3})}},
      {"view_as_real", {z({})}},
      {.op = "view_as_complex", .inputs = {real({3, 2})}, .contiguous = true},
      {.op = "view_as_complex", .inputs = {real({2, 3, 2})}, .contiguous = true},
      // creation
      {"full", {}, {Dims{2, 3}, 1.5, DType::c64}},
      {"zeros", {}, {Dims{2}, DType::c128}},
      {"ones", {}, {Dims{2}, DType::c64}},
      {"eye", {}, {2, 3, DType::c64}},
      {"rand", {}, {Dims{3}, DType::c64}},
      {"randn", {}, {Dims{3}, DType::c128}},
      {"zeros_like", {z({2})}},
      {"ones_like", {z({2})}},
      {"full_like", {z({2})}, {0.5}},
      {"tril", {z({3, 3})}},
      {"triu", {z({3, 4})}},
      // views and copies
      {"clone", {z({2, 3})}},
      {"contiguous", {z({2, 3})}},
      {"_cast", {real({2, 3})}, {DType::c128}},
      {"_cast", {z({2, 3})}, {DType::boolean}},
      {"view", {z({2, 6})}, {Dims{2, 2, -1}}},
      {"reshape", {z({2, 3})}, {Dims{6}}},
      {"flatten", {z({2, 3, 2})}},
      {"squeeze", {z({2, 1})}},
      {"unsqueeze", {z({2, 3})}, {1}},
      {"transpose", {z({2, 3})}, {0, 1}},
      {"permute", {z({2, 3, 4})}, {Dims{2, 0, 1}}},
      {"expand", {z({2, 1})}, {Dims{2, 3}}},
      {"narrow", {z({2, 4})}, {1, 1, 2}},
      {"select", {z({2, 3})}, {1, 2}},
      {"slice", {z({2, 5})}, {1, 0, 3, 2}},
      {"diagonal", {z({3, 4})}},
      {"diag", {z({3})}, {1}},
      {"unfold", {z({2, 5})}, {1, 3, 1}},
      {"cat", {z({2, 3}), z({1, 3})}},
      {"cat", {z({2, 3}), real({1, 3})}},
      {"stack", {z({2, 3}), z({2, 3})}, {1}},
      {"_split", {z({2, 5})}, {1, Dims{2, 3}}},
      {"pad", {z({2, 3})}, {Dims{1, 2}}},
      {"roll", {z({2, 3})}, {Dims{1}, Dims{1}}},
      {"flip", {z({2, 3})}, {Dims{0, 1}}},
      {"tile", {z({2, 3})}, {Dims{2, 2}}},
      {"repeat_interleave", {z({2, 3}), index({3}, 1, 3)}, {1}},
      // long forms
      {"_add_alpha", {z({2, 3}), z({3})}, {2.5}},
      {"_sub_alpha", {real({3}), z({2, 3})}, {-1.5}},
      {"_sum_dtype", {real({2, 3})}, {Dims{1}, true, DType::c128}},
      // reductions
      {"sum", {z({2, 3, 4})}, {Dims{1}}},
      {"sum", {z({2, 3})}, {Value(), true}},
      {"sum", {z({700, 3})}, {Dims{0}}, false},
      {"mean", {z({2, 3, 4})}, {Dims{0, 2}}},
      {"prod", {z({2, 3})}, {Dims{1}}},
      {"prod", {z({2, 3})}, {Dims{0}, true}},
      {"norm", {z({2, 3})}},
      {"norm", {z({2, 3})}, {2.0, Dims{1}, true}},
      {"norm", {z({2, 3})}, {1.0, Dims{0}}},
      {"norm", {z({2, 3})}, {3.0, Dims{1}}},
      {"norm", {z({2, 3})}, {double(INFINITY)}},
      {"all", {z({2, 3})}, {Dims{1}}},
      {"any", {z({2, 3})}, {Dims{0}}},
      {"cumsum", {z({2, 5})}, {1}},
      {"cumsum", {z({9, 2})}, {0, true}},
      {"cumprod", {z({2, 4})}, {1}},
      {"cumprod", {z({3, 2})}, {0}},
      // products
      {"matmul", {z({3, 4}), z({4, 2})}},
      {"matmul", {z({4}), z({4})}},
      {"matmul", {z({2, 3, 4}), z({4})}},
      {"matmul", {z({4}), z({4, 2})}},
      {"matmul", {z({2, 3, 4}), z({2, 4, 3})}},
      {"linear", {z({3, 4}), z({2, 4}), z({2})}},
      {"linear", {z({2, 3, 4}), z({2, 4}), absent()}},
      {"linear", {complex_numbers({3, 4}, -0.3, 0.3), complex_numbers({2, 4}, -0.3, 0.3), z({2})}, {2}},
      {"mm", {z({3, 4}), z({4, 2})}},
      {"bmm", {z({2, 3, 4}), z({2, 4, 2})}},
      {"mv", {z({3, 4}), z({4})}},
      {"dot", {z({4}), z({4})}},
      {"outer", {z({3}), z({4})}},
      {"trace", {z({3, 4})}},
      {"addmm", {z({2}), z({3, 4}), z({4, 2})}, {0.5, 2.0}},
      {"baddbmm", {z({3, 2}), z({2, 3, 4}), z({2, 4, 2})}, {0.5, 2.0}},
      {"tensordot", {z({2, 3, 4}), z({3, 4, 2})}},
      {"einsum", {z({2, 3, 4}), z({2, 5, 4})}, {equation("bid,bjd->bij")}},
      {"einsum", {z({2, 3}), z({2, 3})}, {equation("ij,ij->i")}},
      {"einsum", {z({3, 3})}, {equation("ii->")}},
      {"conv1d", {z({2, 4, 7}), z({2, 2, 3}), z({2})}, {Dims{2}, Dims{1}, Dims{2}, 2}},
      {"conv2d", {z({1, 2, 4, 5}), z({3, 2, 2, 3}), z({3})}, {Dims{1}, Dims{1}}},
      {"conv2d", {z({2, 4, 5}), z({3, 2, 2, 2}), absent()}, {Dims{2, 1}}},
      {"conv3d", {z({1, 2, 3, 3}), z({2, 1, 2, 2, 1}), absent()}},
      {"conv_transpose1d", {z({2, 2, 3}), z({2, 2, 3}), z({2})}, {Dims{2}}},
      {"conv_transpose2d", {z({1, 2, 3, 3}), z({2, 1, 2, 2}), absent()}, {Dims{2}, Dims{1}}},
      // indices
      {"index_select", {z({3, 2}), index({4}, 0, 3)}, {0}},
      {"gather", {z({3, 2}), index({2, 2}, 0, 3)}, {0}},
      {"scatter_add", {z({3, 2}), index({2, 2}, 0, 3), z({2, 2})}, {0}},
      {"scatter", {z({3, 2}), index({2, 2}, 0, 3), z({2, 2})}, {0}},
      {"index_add", {z({3, 2}), index({4}, 0, 3), z({4, 2})}, {0, 1.5}},
      {"index_copy", {z({3, 2}), index({2}, 0, 3), z({2, 2})}, {0}},
      {"index_fill", {z({3, 2}), index({2}, 0, 3), z({})}, {0}},
      {"take", {z({3, 2}), index({4}, 0, 6)}},
      {"take_along_dim", {z({3, 2}), index({1, 2}, 0, 3)}, {0}},
      {"masked_fill", {z({2, 3}), boolean({2, 3})}, {0.5}},
      {"masked_select", {z({2, 3}), boolean({2, 3})}},
      {"embedding", {index({2, 3}, 0, 4), z({4, 2})}},
      {"nonzero", {z({2, 3})}},
      {"isclose", {z({2, 3}), z({3})}, {0.1, 0.5}},
  };
  add_elementwise(rows);
  return rows;
}

std::vector<BadSample> bad_complex_samples() {
  const SampleInput z = complex_numbers({2, 3});
  return {
      {"complex", {z, real({2, 3})}, {}, "complex: complex numbers are not supported (got c128)"},
      {"complex",
       {index({2}, 0, 3), real({2})},
       {},
       "complex: two tensors of type f32, or two of type f64, are needed"},
      {"complex", {real({2}), real({3})}, {}, "complex: shapes [2] and [3] do not broadcast"},
      {"imag", {real({2})}, {}, "imag: a complex tensor is needed (got f64)"},
      {"view_as_real", {real({2})}, {}, "view_as_real: a complex tensor is needed (got f64)"},
      {"view_as_real", {complex_numbers({1, 1, 1, 1, 1, 1, 1, 1})}, {}, "view_as_real: at most 8 dims"},
      {"view_as_complex", {real({3})}, {}, "view_as_complex: the last dim must have size 2 (got shape [3])"},
      {"view_as_complex", {real({})}, {}, "view_as_complex: the last dim must have size 2 (got shape [])"},
      {"view_as_complex", {z}, {}, "view_as_complex: complex numbers are not supported (got c128)"},
      {"view_as_complex",
       {index({2}, 0, 2)},
       {},
       "view_as_complex: a tensor of type f32 or f64 is needed (got i64)"},
      {"_cast",
       {z},
       {DType::f32},
       "to: a c128 tensor is not turned into f32; take its real(), imag() or abs()"},
      {"sort", {z}, {}, "sort: complex numbers are not supported (got c128)"},
      {"argmax", {z}, {}, "argmax: complex numbers are not supported (got c128)"},
      {"lt", {z, real({3})}, {}, "lt: complex numbers are not supported (got c128)"},
      {"maximum", {real({3}), z}, {}, "maximum: complex numbers are not supported (got c128)"},
      {"floor", {z}, {}, "floor: complex numbers are not supported (got c128)"},
      {"relu", {z}, {}, "relu: complex numbers are not supported (got c128)"},
      {"softmax", {z}, {-1}, "softmax:"},
      {"layer_norm", {z, absent(), absent()}, {Dims{3}}, "layer_norm:"},
      {"var", {z}, {}, "var: complex numbers are not supported (got c128)"},
      {"arange", {}, {4, Value(), 1, DType::c64}, "arange: complex numbers are not supported (got c64)"},
      {"randint", {}, {0, 4, Dims{2}, DType::c64}, "randint: complex numbers are not supported (got c64)"},
      {"matmul", {z, real({3, 2})}, {}, "matmul: operands have types c128 and f64"},
      {"linear",
       {complex_numbers({3, 4}), complex_numbers({2, 4}), absent()},
       {1},
       "relu: complex numbers are not supported (got c128)"},
      {"index_select", {real({3}), z}, {0}, "index_select: indices must be i64, i32 or u8 (got c128)"},
  };
}

}  // namespace

extern const SampleFamily kComplex{complex_samples, bad_complex_samples};

}  // namespace lunagrad::tests

// The table of the kernels of all rows of elementwise.def for one kind of numbers. There is no #pragma once:
// a source includes the file in the namespace of a SIMD target, behind elementwise/rows.h and after it has
// defined
//   Number<T>                                  the rows' operands: vectors of T, or of complex numbers
//   RowValue<R, T>, RowGradient<R, I, T>       functions of these operands
//   for_each_vector<T>(stretch, f, operands)   calls such a function for all elements
//   has_kernels(row, types)                    which rows the table has

template <class R, int Arity, class T>
void value_of(const Stretch& s) {
  using F = RowValue<R, T>;
  for_each_vector<T>(s, F{typename R::template Params<Number<T>>(s.params)},
                     std::make_index_sequence<Arity>());
}
template <class R, int Arity, int I, class T>
void gradient_of(const Stretch& s) {
  using F = RowGradient<R, I, T>;
  for_each_vector<T>(s, F{typename R::template Params<Number<T>>(s.params)},
                     std::make_index_sequence<Arity + 2>());
}

template <class R, Row row, RowTypes types, int Arity, bool HasGradients>
constexpr RowKernels kernels_of() {
  RowKernels kernels{};
  if constexpr (has_kernels(row, types)) {
    kernels.value[0] = value_of<R, Arity, float>;
    kernels.value[1] = value_of<R, Arity, double>;
  }
  if constexpr (has_kernels(row, types) && HasGradients) {
    kernels.gradient[0][0] = gradient_of<R, Arity, 0, float>;
    kernels.gradient[0][1] = gradient_of<R, Arity, 0, double>;
    if constexpr (Arity > 1) {
      kernels.gradient[1][0] = gradient_of<R, Arity, 1, float>;
      kernels.gradient[1][1] = gradient_of<R, Arity, 1, double>;
    }
    if constexpr (Arity > 2) {
      kernels.gradient[2][0] = gradient_of<R, Arity, 2, float>;
      kernels.gradient[2][1] = gradient_of<R, Arity, 2, double>;
    }
  }
  return kernels;
}

constexpr bool ksame = true, kbool = false;  // whether rows with this result type have gradients
#define EW1(name, params, types, result, facts, value, gx, lo, hi, doc) \
  kernels_of<name##_row, Row::name, RowTypes::k##types, 1, k##result>(),
#define EW2(name, inputs, params, types, result, facts, value, ga, gb, lo, hi, doc) \
  kernels_of<name##_row, Row::name, RowTypes::k##types, 2, k##result>(),
#define EW3(name, inputs, params, types, result, facts, value, ga, gb, gc, lo, hi, doc) \
  kernels_of<name##_row, Row::name, RowTypes::k##types, 3, k##result>(),
constexpr RowKernels kKernels[kRowCount] = {
#include "runtime/elementwise/elementwise.def"
};

const RowKernels* target_kernels() { return kKernels; }

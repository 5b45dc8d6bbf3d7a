// The rows of elementwise.def as structs of templates, one struct `tanh_row` for each row:
//   tanh_row::Params<S>                       its parameters, read from an array of doubles (see pack_params)
//   tanh_row::value(a, b, c, p)               the result; operands that the row does not have may be anything
//   tanh_row::gradient<i>(g, a, b, c, y, p)   the gradient of operand i
// S is a type for which the functions of ops/elementwise/vocabulary.h are defined. There is no #pragma once:
// the file is included in the namespace of each of these types, so that the templates of a SIMD target are
// compiled for that target.

template <class S>
struct ParamReader {
  const double* values;
  S next() { return S(*values++); }
};

// Always inlined: vectors must stay in registers.
#define LUNAGRAD_WORD [[gnu::always_inline]] static inline
#define K(c) S(double(c))
#define REAL(name, fallback) S name = this->next();
#define REQUIRED(name) S name = this->next();
#define BOUND(name, when_absent) S name = this->next();
#define CHOICE(name, first, second) int name = int(*this->values++);

#define LUNAGRAD_PARAMS(params)                                       \
  template <class S>                                                  \
  struct Params : ParamReader<S> {                                    \
    explicit Params(const double* values) : ParamReader<S>{values} {} \
    params                                                            \
  };

#define EW1(name, params, types, result, facts, value_, gx, lo, hi, doc)                             \
  struct name##_row {                                                                                \
    LUNAGRAD_PARAMS(params)                                                                          \
    template <class S>                                                                               \
    LUNAGRAD_WORD auto value(S x, S, S, [[maybe_unused]] const Params<S>& p) {                       \
      return value_;                                                                                 \
    }                                                                                                \
    template <int I, class S>                                                                        \
    LUNAGRAD_WORD S gradient([[maybe_unused]] S g, [[maybe_unused]] S x, S, S, [[maybe_unused]] S y, \
                             [[maybe_unused]] const Params<S>& p) {                                  \
      return gx;                                                                                     \
    }                                                                                                \
  };
#define EW2(name, inputs, params, types, result, facts, value_, ga, gb, lo, hi, doc)              \
  struct name##_row {                                                                             \
    LUNAGRAD_PARAMS(params)                                                                       \
    template <class S>                                                                            \
    LUNAGRAD_WORD auto value(S a, S b, S, [[maybe_unused]] const Params<S>& p) {                  \
      return value_;                                                                              \
    }                                                                                             \
    template <int I, class S>                                                                     \
    LUNAGRAD_WORD S gradient([[maybe_unused]] S g, [[maybe_unused]] S a, [[maybe_unused]] S b, S, \
                             [[maybe_unused]] S y, [[maybe_unused]] const Params<S>& p) {         \
      if constexpr (I == 0)                                                                       \
        return ga;                                                                                \
      else                                                                                        \
        return gb;                                                                                \
    }                                                                                             \
  };
#define EW3(name, inputs, params, types, result, facts, value_, ga, gb, gc, lo, hi, doc)       \
  struct name##_row {                                                                          \
    LUNAGRAD_PARAMS(params)                                                                    \
    template <class S>                                                                         \
    LUNAGRAD_WORD auto value(S a, S b, S c, [[maybe_unused]] const Params<S>& p) {             \
      return value_;                                                                           \
    }                                                                                          \
    template <int I, class S>                                                                  \
    LUNAGRAD_WORD S gradient([[maybe_unused]] S g, [[maybe_unused]] S a, [[maybe_unused]] S b, \
                             [[maybe_unused]] S c, [[maybe_unused]] S y,                       \
                             [[maybe_unused]] const Params<S>& p) {                            \
      if constexpr (I == 0)                                                                    \
        return ga;                                                                             \
      else if constexpr (I == 1)                                                               \
        return gb;                                                                             \
      else                                                                                     \
        return gc;                                                                             \
    }                                                                                          \
  };
#include "runtime/elementwise/elementwise.def"
#undef LUNAGRAD_PARAMS
#undef LUNAGRAD_WORD
#undef K

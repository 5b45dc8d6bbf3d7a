// The rows of elementwise.def as C++ declarations: Tensor exp(const Tensor& x). Included by ops.h, in its
// namespace.
#define REAL(name, fallback) , double name = fallback
#define REQUIRED(name) , double name
#define BOUND(name, when_absent) , std::optional<double> name = std::nullopt
#define CHOICE(name, first, second) , std::string_view name = first
#define EW1(name, params, types, result, facts, value, gx, lo, hi, doc) Tensor name(const Tensor& x params);
#define EW2(name, inputs, params, types, result, facts, value, ga, gb, lo, hi, doc) \
  Tensor name(const Tensor& a, const Tensor& b params);
#define EW3(name, inputs, params, types, result, facts, value, ga, gb, gc, lo, hi, doc) \
  Tensor name(const Tensor& a, const Tensor& b, const Tensor& c params);
#include "runtime/elementwise/elementwise.def"

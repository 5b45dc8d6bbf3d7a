#pragma once
// Compares gradients with central differences in f64, for the tests and for lg.grad.check. The error of (f(x
// + h) - f(x - h)) / 2h is about h^2 |f'''| / 6 + 1e-16 |f| / h, which is 1e-10 for h = 1e-5. For complex
// inputs the real and the imaginary part are varied separately, and the gradient is dL/dRe + i dL/dIm. For
// the thread of the tensors.
#include <functional>
#include <string>

#include "runtime/tape/backward.h"

namespace lunagrad {

using TensorFunction = std::function<TensorList(const TensorList&)>;

struct GradCheckOptions {
  double step = 1e-5;
  double tolerance = 1e-6;  // of |analytic - numeric| / max(1, largest |numeric| of that input)
};

struct GradCheckResult {
  bool ok = true;
  double worst = 0;  // largest relative error
  std::string
      message;  // "input 2, element 5: gradient 0.25, central difference 0.5", or why it could not be checked
};

// Checks the gradients of f's floating outputs, contracted with fixed random weights, with respect to the
// inputs that are f64 or c128 and require grad. f must be deterministic. Inputs are copied, not changed.
GradCheckResult gradcheck(const TensorFunction& f, const TensorList& inputs, GradCheckOptions = {});

// Checks the gradient itself as a function of the inputs and of the outputs' gradients: second order.
GradCheckResult gradgradcheck(const TensorFunction& f, const TensorList& inputs,
                              GradCheckOptions = {1e-5, 1e-4});

}  // namespace lunagrad

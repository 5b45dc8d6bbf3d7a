// A host of the runtime alone: prints the gradient of the sum of squares, and the version.
#include <lunagrad/runtime/core/version.h>
#include <lunagrad/runtime/ops.h>
#include <lunagrad/runtime/tape/tape.h>

#include <cstdio>
#include <cstring>

#include "runtime/core/tensor.h"

using namespace lunagrad;

static_assert(LUNAGRAD_VERSION_MAJOR * 10000 + LUNAGRAD_VERSION_MINOR * 100 + LUNAGRAD_VERSION_PATCH > 0);

int main() {
  Tensor x = full({3}, 2.0).requires_grad_();
  backward(sum(square(x), {}, false));
  std::printf("gradient %g, version %s\n", sum(x.grad(), {}, false).item(), LUNAGRAD_VERSION);
  return sum(x.grad(), {}, false).item() == 12 && std::strlen(LUNAGRAD_VERSION) > 4 ? 0 : 1;
}

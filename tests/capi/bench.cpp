// The price of the C library: an add of two tensors of four elements through lg_call(), with and without the
// release of the result, and the same through runtime/ops.h, in turns; the fastest round of each. The C
// library has an engine of its own, so it is loaded beside the program's.
//   lunagrad-capi-bench LIBRARY
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "capi/lunagrad.h"
#include "runtime/ops.h"

namespace {

using Clock = std::chrono::steady_clock;
constexpr int kCalls = 20000, kRounds = 400;

template <class F>
double ns_of(F&& f) {
  const auto start = Clock::now();
  for (int i = 0; i < kCalls; ++i) f();
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count() / kCalls;
}

template <class F>
F* load(void* library, F*, const char* name) {
  return reinterpret_cast<F*>(dlsym(library, name));
}

}  // namespace

int main(int argc, char** argv) {
  void* const library = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (!library) {
    std::fprintf(stderr, "bench: %s\n", argc == 2 ? dlerror() : "lunagrad-capi-bench LIBRARY");
    return 2;
  }
#define LOAD(name) auto* const name = load(library, &::name, #name)
  LOAD(lg_engine_open);
  LOAD(lg_tensor_zeros);
  LOAD(lg_tensor_release);
  LOAD(lg_op_find);
  LOAD(lg_call);
  const int64_t shape[] = {4};
  lg_engine* engine;
  lg_tensor *operands[2], *result;
  const lg_op* op;
  const auto begin = Clock::now();
  if (lg_engine_open(nullptr, &engine) != LG_OK) return 1;
  const double opened = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  for (lg_tensor*& x : operands) lg_tensor_zeros(engine, LG_F32, shape, 1, nullptr, &x);
  lg_op_find("add", &op);

  const lunagrad::Tensor a = lunagrad::zeros({4}), b = lunagrad::zeros({4});
  double in_c = 1e9, in_cpp = 1e9, find = 1e9;
  for (int round = 0; round < kRounds; ++round) {
    in_c = std::min(in_c, ns_of([&] {
                      size_t n = 1;
                      lg_call(engine, op, operands, 2, nullptr, 0, &result, &n);
                      lg_tensor_release(result);
                    }));
    in_cpp = std::min(in_cpp, ns_of([&] { lunagrad::add(a, b); }));
    if (round < 40) find = std::min(find, ns_of([&] { lg_op_find("add", &op); }));
  }
  std::printf(
      "start of an engine %.2f ms\nadd of 4 elements: C %.1f ns, C++ %.1f ns, %.1f ns more\nlg_op_find %.1f "
      "ns\n",
      opened, in_c, in_cpp, in_c - in_cpp, find);
}

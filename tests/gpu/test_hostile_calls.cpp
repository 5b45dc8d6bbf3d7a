// Every op with empty, 0-d and single operands and hostile parameters on the Vulkan device
// (samples/hostile_calls.h): no crash and no hang, and the same as on the CPU: an error on both or on none,
// shapes, types, values, gradients, and whether a result shares memory with an operand.
#include <cstdio>
#include <cstdlib>

#include "runtime/core/memory_limit.h"
#include "tests/gpu/compare.h"
#include "tests/samples/hostile_calls.h"
#include "tests/support/timing.h"

namespace lunagrad::tests {
namespace {

bool shares(const Tensor& y, const TensorList& operands) {
  for (const Tensor& x : operands)
    if (x.defined() && y.storage_ref() == x.storage_ref()) return true;
  return false;
}

// How the device differs from the CPU, or "".
std::string difference(const HostileCall& call, const HostileResult& got, const TensorList& there,
                       const HostileResult& expected, const TensorList& here) {
  // The device has no c128. The temporary memory of ops, which counts towards the memory limit, differs
  // between devices.
  for (const std::string* error :
       {&got.error, &got.gradient_error, &expected.error, &expected.gradient_error})
    if (error->find("c128 tensors live on the CPU") != error->npos ||
        error->find("out of memory") != error->npos)
      return "";
  // The device finds a fault at its next wait, which may be within the gradient.
  if (!expected.error.empty() && got.gradient_error.starts_with(expected.error)) return "";
  if (got.error.empty() != expected.error.empty())
    return "error on one device: '" + got.error + "', on the CPU '" + expected.error + "'";
  if (got.outputs.size() != expected.outputs.size()) return "the number of results";
  for (size_t i = 0; i < got.outputs.size(); ++i) {
    const Tensor &y = got.outputs[i], &z = expected.outputs[i];
    if (y.defined() != z.defined()) return "a result is missing";
    if (!y.defined()) continue;
    if (!(y.shape() == z.shape())) return text("shape ", y.shape(), " where the CPU has ", z.shape());
    if (y.dtype() != z.dtype()) return text("type ", y.dtype(), " where the CPU has ", z.dtype());
    if (shares(y, there) != shares(z, here)) return text("result ", i + 1, " shares memory on one device");
    if (y.numel() > 1 << 20 || std::string_view(call.op->name).starts_with("empty")) continue;
    if (has_free_signs(*call.op)) continue;
    // test_samples.cpp checks numbers beyond f32 and sums of many roundings.
    if (const double error = distance(y, z); !call.hostile_params && !(error <= 1e-4))
      return text("result ", i + 1, " is off by ", error);
  }
  if (got.gradient_error.empty() != expected.gradient_error.empty())
    return "gradient: '" + got.gradient_error + "', on the CPU '" + expected.gradient_error + "'";
  if (has_free_signs(*call.op)) return "";  // the gradient of their sum has a free sign, too
  for (size_t i = 0; i < std::min(got.gradients.size(), expected.gradients.size()); ++i) {
    const Tensor &y = got.gradients[i], &z = expected.gradients[i];
    if (y.defined() != z.defined()) return text("gradient ", i + 1, " is missing on one device");
    if (!y.defined() || call.hostile_params) continue;
    // Gradients of cosine_similarity cancel: what is left is rounding.
    constexpr double kSmallest = 1e-2;
    if (const double error = distance(y.detach(), z.detach(), kSmallest); !(error <= 1e-3))
      return text("gradient ", i + 1, " is off by ", error);
  }
  return "";
}

TEST_CASE("calls with empty or 0-d operands and hostile numbers end as on the CPU") {
  const bool thorough = long_run();
  const bool trace = std::getenv("LUNAGRAD_TRACE_CALLS") != nullptr;
  const char* const only = std::getenv("LUNAGRAD_ONLY_OP");
  set_memory_limit({size_t(256) << 20, nullptr});
  CallWatch watch(60);  // time for Mesa's CPU driver to compile shaders
  Turns turns(8);
  int calls = 0;
  for_hostile_calls(thorough, [&](const HostileCall& call) {
    if (only && std::string_view(only) != call.op->name) return;
    if (!only && !turns.next()) return;
    const std::string name = name_of(call);
    if (trace) std::fprintf(stderr, "%s\n", name.c_str());
    const TensorList here = operands_of(call);
    // Creation ops have no operand that names the device: test_samples.cpp creates tensors on the device.
    if (here.empty()) return;
    TensorList there;
    for (const Tensor& x : here) there.push_back(x.defined() ? to(x, gpu()) : x);
    watch.begin(name);
    std::string differs;
    try {
      const HostileResult expected = run_hostile(call, here);
      HostileResult got;
      try {
        got = run_hostile(call, there);
        gpu().sync();  // faults are found here
        differs = difference(call, got, there, expected, here);
      } catch (const Error& error) {
        if (expected.error.empty() && expected.gradient_error.empty())
          differs = text("error on the device: ", error.what());
      }
    } catch (const std::bad_alloc&) {
    }
    CHECK_MESSAGE(watch.end(), name << " had to be stopped");
    CHECK_MESSAGE(differs.empty(), name << ": " << differs);
    ++calls;
  });
  set_memory_limit({});
  std::printf("%d hostile calls on the device\n", calls);
}

}  // namespace
}  // namespace lunagrad::tests

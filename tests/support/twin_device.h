#pragma once
// A device beside the CPU that runs the CPU's kernels on memory of its own, and whose results a test can
// spoil. It is in no list of devices: a test passes it. For one thread.
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>

#include "runtime/core/op.h"
#include "runtime/ops.h"

namespace lunagrad::tests {

class TwinDevice final : public Device {
 public:
  // Whether the results of a call that has run are made wrong, by a thousandth of each element.
  std::function<bool(const Call&)> spoils;
  size_t total = size_t(1) << 40;  // bytes that it says it has

  std::string_view name() const override { return "twin"; }
  std::string description() const override { return "the CPU's kernels"; }
  void* alloc(size_t bytes) override {
    return bytes ? std::aligned_alloc(64, (bytes + 63) / 64 * 64) : nullptr;
  }
  void free(void* handle, size_t) noexcept override { std::free(handle); }
  void copy_in(void* handle, size_t offset, const void* from, size_t bytes) override {
    std::memcpy(static_cast<char*>(handle) + offset, from, bytes);
  }
  void copy_out(void* to, const void* handle, size_t offset, size_t bytes) override {
    std::memcpy(to, static_cast<const char*>(handle) + offset, bytes);
  }
  bool supports(const Call& call) const override { return call.op->cpu && cpu_device().supports(call); }
  void run(const Call& call) override {
    std::map<Storage*, Ref<Storage>> copies;
    Call here = call;
    for (Operands* list : {&here.in, &here.out})
      for (Tensor& x : *list) x = on_cpu(x, copies);
    cpu_device().run(here);
    const bool spoilt = spoils && spoils(here);
    for (size_t i = 0; i < call.out.size(); ++i) {
      if (spoilt) spoil(here.out[i]);
      bring_back(here.out[i], call.out[i]);
    }
    for (size_t i = 0; call.op->writes_inputs && i < call.in.size(); ++i) bring_back(here.in[i], call.in[i]);
  }
  void sync() override {}
  DeviceMemory memory() const override { return {.total = total}; }
  void reset_peak() override {}
  void release_unused() override {}

 private:
  Tensor on_cpu(const Tensor& x, std::map<Storage*, Ref<Storage>>& copies) const {
    if (!x.defined() || x.device().is_cpu()) return x;
    Ref<Storage>& copy = copies[&x.storage()];
    if (!copy) {
      copy = Ref<Storage>(new Storage(cpu_device(), x.storage().bytes));
      if (x.storage().bytes) std::memcpy(copy->data(), x.storage().data(), x.storage().bytes);
    }
    return Tensor(copy, x.layout(), x.offset(), x.dtype());
  }
  static void bring_back(const Tensor& from, const Tensor& to) {
    if (!to.defined() || to.device().is_cpu() || to.storage().bytes == 0) return;
    std::memcpy(to.storage().data(), from.storage().data(), to.storage().bytes);
  }
  static void spoil(const Tensor& x) {
    if (x.dtype() != DType::f32 || !x.is_contiguous()) return;
    for (int64_t i = 0; i < x.numel(); ++i) x.data<float>()[i] *= 1.001f;
  }
};

}  // namespace lunagrad::tests

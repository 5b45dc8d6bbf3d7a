#pragma once
// A Vulkan device as the engine sees it. What it costs (the logical device, its memory, its first pipelines)
// is paid at the first use. One lock guards everything behind it.
#include <memory>
#include <mutex>

#include "gpu/context.h"
#include "gpu/kernels.h"
#include "runtime/device.h"
#include "runtime/user_kernel.h"
#include "runtime/work_times.h"

namespace lunagrad::gpu {

class VulkanDevice final : public Device, public WorkTimes, public KernelCompiler {
 public:
  VulkanDevice(std::string name, std::shared_ptr<Instance>, const PhysicalDevice&);
  ~VulkanDevice() override;

  std::string_view name() const override { return name_; }
  std::string description() const override;
  void* alloc(size_t bytes) override;
  void free(void* handle, size_t bytes) noexcept override;
  void copy_in(void* handle, size_t offset, const void* from, size_t bytes) override;
  void copy_out(void* to, const void* handle, size_t offset, size_t bytes) override;
  bool supports(const Call&) const override;
  void run(const Call&) override;
  void sync() override;
  DeviceMemory memory() const override;
  void release_unused() override;
  bool watch_work(bool on) override;
  std::vector<DeviceWork> take_work() override;
  int64_t compile(const KernelSource&) override;

  // Lets go of everything Vulkan, for good. Called when the process ends, before layers and drivers are torn
  // down.
  void close() noexcept;

 private:
  // In the order of construction; destroyed in reverse.
  struct Machine {
    Machine(std::shared_ptr<Instance>, const PhysicalDevice&);
    VulkanContext context;
    Pipelines pipelines;
    Memory memory;
    Stream stream;
    Recorder recorder;
  };
  Machine& machine();  // Error of kind device when the device cannot be opened or was closed

  const std::string name_;
  const PhysicalDevice physical_;
  std::shared_ptr<Instance> instance_;  // null: closed
  mutable std::recursive_mutex lock_;   // a kernel may be put together from other ops
  std::unique_ptr<Machine> machine_;
};

}  // namespace lunagrad::gpu

#pragma once
// A Vulkan device as the engine sees it. The logical device, its memory and its pipelines are created at the
// first use. One lock guards them; any thread may call the functions. If the device is lost, its Machine is
// kept until its last tensor is freed, and the next use creates a new one. Functions throw an Error of kind
// device when Vulkan fails, and of kind memory when memory runs out.
#include <memory>
#include <mutex>
#include <vector>

#include "gpu/device/device_buffer.h"
#include "gpu/ops/index/sorted_indices.h"
#include "gpu/ops/kernels.h"
#include "gpu/ops/unit_operands.h"
#include "gpu/rates/device_rates.h"
#include "gpu/rates/product_table.h"
#include "gpu/vulkan/context.h"
#include "gpu/vulkan/host_buffers.h"
#include "runtime/core/device.h"
#include "runtime/core/device_limits.h"
#include "runtime/core/host_copies.h"
#include "runtime/core/user_kernel.h"
#include "runtime/core/work_times.h"

namespace lunagrad::gpu {

class VulkanDevice final : public Device,
                           public WorkTimes,
                           public HostCopies,
                           public KernelCompiler,
                           public ProductPlanner,
                           public DeviceLimits {
 public:
  VulkanDevice(std::string name, std::shared_ptr<Instance>, const PhysicalDevice&);
  ~VulkanDevice() override;

  std::string_view name() const override { return name_; }
  std::string description() const override;
  void* alloc(size_t bytes) override;
  void free(void* handle, size_t bytes) noexcept override;
  void copy_in(void* handle, size_t offset, const void* from, size_t bytes) override;
  void copy_out(void* to, const void* handle, size_t offset, size_t bytes) override;
  std::unique_ptr<HostCopy> begin_copy_out(const void* handle, size_t offset, size_t bytes) override;
  bool supports(const Call&) const override;
  std::string why_not(const Call&) const override;
  void run(const Call&) override;
  bool fuses(const Call&) const override;
  void run_group(const CallGroup&) override;
  void sync() override;
  DeviceMemory memory() const override;
  void reset_peak() override;
  void release_unused() override;
  bool watch_work(bool on) override;
  std::vector<DeviceWork> take_work() override;
  std::vector<KernelUse> kernels() const override;
  int64_t compile(const KernelSource&) override;
  std::vector<ProductPlan> possible_plans(const Call&) override;
  ProductPlan plan_of(const Call&) override;
  void set_plan(const Call&, const ProductPlan*) override;
  std::string keep_plans() override;
  std::string measure_rates() override;
  bool computes_on_cpu() const override;

  // For a device that the program shares (gpu/gpu.h).
  bool is_shared() const { return physical_.host.has_value(); }
  DeviceBuffer buffer_of(const void* handle, size_t offset);
  void wait_for_host(uint64_t semaphore, uint64_t value);

  uint64_t copies_out() const;  // calls of copy_out() so far

  // Destroys all Vulkan objects, permanently. Called when the process ends, before layers and drivers are
  // unloaded.
  void close() noexcept;

  // The logical device and everything that belongs to it.
  struct Machine {
    Machine(std::shared_ptr<Instance>, const PhysicalDevice&, const DeviceRates&, const ProductTable&);
    VulkanContext context;
    Pipelines pipelines;
    Memory memory;
    Stream stream;
    HostBuffers host_buffers;
    SortedIndices sorted_indices;
    UnitOperands unit_operands;
    Recorder recorder;
  };
  // To be called under the lock, or by a test with one thread. Throws an Error of kind device if the device
  // cannot be opened or was closed.
  Machine& machine();

 private:
  class CopyOfRange;  // implements HostCopy

  Machine& machine_of(const Range&);  // Error of kind device if that machine was lost
  void drop_lost() noexcept;          // destroys lost machines without tensors
  static void discard(std::unique_ptr<Machine>) noexcept;

  const std::string name_;
  const PhysicalDevice physical_;
  std::shared_ptr<Instance> instance_;  // null: closed
  mutable std::recursive_mutex lock_;   // recursive: kernels call other ops
  DeviceRates rates_;
  ProductTable products_;
  std::unique_ptr<Machine> machine_;
  uint64_t copies_out_ = 0;
  std::vector<std::unique_ptr<Machine>> lost_;  // lost machines with tensors that still exist
};

}  // namespace lunagrad::gpu

#include "gpu/device/device.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "gpu/groups/fused.h"
#include "gpu/ops/elementwise/casts.h"
#include "gpu/ops/parts.h"
#include "gpu/ops/products/product.h"
#include "gpu/ops/user.h"
#include "runtime/core/called.h"
#include "runtime/core/error.h"

namespace lunagrad::gpu {

VulkanDevice::Machine::Machine(std::shared_ptr<Instance> instance, const PhysicalDevice& physical,
                               const DeviceRates& rates, const ProductTable& products)
    : context(std::move(instance), physical),
      pipelines(context),
      memory(context),
      stream(context, pipelines.layout()),
      host_buffers(context),
      recorder{pipelines, stream, memory, context.physical, rates, products, sorted_indices, unit_operands} {
  memory.tell(&stream.faults());
  memory.may_clear(&sorted_indices);
  memory.may_clear(&unit_operands);
}

VulkanDevice::VulkanDevice(std::string name, std::shared_ptr<Instance> instance,
                           const PhysicalDevice& physical)
    : name_(std::move(name)),
      physical_(physical),
      instance_(std::move(instance)),
      rates_(load_rates(rates_file(physical)).value_or(default_rates(physical))),
      products_(physical.properties()) {}

VulkanDevice::~VulkanDevice() { close(); }

void VulkanDevice::close() noexcept {
  const std::lock_guard guard(lock_);
  if (machine_) discard(std::move(machine_));
  for (auto& machine : std::exchange(lost_, {})) discard(std::move(machine));
  instance_.reset();
}

void VulkanDevice::discard(std::unique_ptr<Machine> machine) noexcept {
  machine->pipelines.come_to_rest();
  // A device that does not answer may still use the memory: leak it.
  if (!machine->stream.come_to_rest()) (void)machine.release();
}

std::string VulkanDevice::description() const {
  const std::lock_guard guard(lock_);
  const std::string plans = products_.description();
  const std::string rates = rates_ == default_rates(physical_) ? "" : ", " + mark(rates_);
  return text(physical_.name, ", ", physical_.driver, rates, plans.empty() ? "" : ", ", plans);
}

VulkanDevice::Machine& VulkanDevice::machine() {
  if (!instance_) fail_as(ErrorKind::device, name_, ": the device was closed");
  if (machine_ && machine_->stream.lost()) {
    machine_->pipelines.come_to_rest();
    machine_->sorted_indices.clear();
    machine_->unit_operands.clear();
    lost_.push_back(std::move(machine_));
    drop_lost();
  }
  if (!machine_) machine_ = std::make_unique<Machine>(instance_, physical_, rates_, products_);
  return *machine_;
}

void VulkanDevice::drop_lost() noexcept {
  std::erase_if(lost_, [](std::unique_ptr<Machine>& machine) {
    if (machine->memory.usage().in_use > 0) return false;
    discard(std::move(machine));
    return true;
  });
}

VulkanDevice::Machine& VulkanDevice::machine_of(const Range& range) {
  Machine& m = machine();
  check_alive(range, m.memory);
  return m;
}

void* VulkanDevice::alloc(size_t bytes) {
  if (bytes == 0) return nullptr;
  const std::lock_guard guard(lock_);
  Machine& m = machine();
  if (m.memory.should_give_back_for(bytes)) {
    m.stream.finish();
    m.memory.give_back_for(bytes);
  }
  try {
    return m.memory.alloc(bytes);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::memory) throw;
  }
  m.stream.wait();
  m.memory.release_unused();
  return m.memory.alloc(bytes);
}

void VulkanDevice::free(void* handle, size_t) noexcept {
  if (!handle) return;
  const std::lock_guard guard(lock_);
  if (!instance_) return;
  Range* const range = static_cast<Range*>(handle);
  if (machine_) {
    machine_->sorted_indices.forget(range);
    machine_->unit_operands.forget(range);
  }
  range->block->owner->free(range);
  if (!lost_.empty()) drop_lost();
}

uint64_t VulkanDevice::copies_out() const {
  const std::lock_guard guard(lock_);
  return copies_out_;
}

void VulkanDevice::copy_in(void* handle, size_t offset, const void* from, size_t bytes) {
  if (bytes == 0) return;
  const std::lock_guard guard(lock_);
  Range& range = *static_cast<Range*>(handle);
  machine_of(range).stream.copy_in(range, offset, from, bytes);
}

void VulkanDevice::copy_out(void* to, const void* handle, size_t offset, size_t bytes) {
  if (bytes == 0) return;
  const std::lock_guard guard(lock_);
  // Not const: the range records the read.
  Range& range = *static_cast<Range*>(const_cast<void*>(handle));
  Stream& stream = machine_of(range).stream;
  stream.faults().check_sound(range);
  stream.copy_out(to, range, offset, bytes);
  ++copies_out_;
}

DeviceBuffer VulkanDevice::buffer_of(const void* handle, size_t offset) {
  const std::lock_guard guard(lock_);
  const Range& range = *static_cast<const Range*>(handle);
  Stream& stream = machine_of(range).stream;
  stream.faults().check_sound(range);
  const Timeline::Point done = stream.submit_all();
  return {reinterpret_cast<uint64_t>(range.block->buffer), range.offset + offset,
          reinterpret_cast<uint64_t>(done.semaphore), done.value};
}

void VulkanDevice::wait_for_host(uint64_t semaphore, uint64_t value) {
  const std::lock_guard guard(lock_);
  machine().stream.wait_for_host({reinterpret_cast<VkSemaphore>(semaphore), value});
}

// A host copy of a range. Its buffer belongs to the range's machine.
class VulkanDevice::CopyOfRange final : public HostCopy {
 public:
  CopyOfRange(VulkanDevice& device, Machine& machine, Range& range, size_t offset, size_t bytes)
      : device_(device),
        machine_(machine),
        entry_(machine.host_buffers.take(bytes, machine.stream.timeline().ask())),
        bytes_(bytes) {
    try {
      entry_.busy_until = machine.stream.begin_copy_out(*entry_.buffer, range, offset, bytes);
    } catch (...) {
      machine.host_buffers.give_back(entry_);
      throw;
    }
    arrived_ = machine.stream.timeline().at(entry_.busy_until);
  }
  ~CopyOfRange() override {
    const std::lock_guard guard(device_.lock_);
    if (device_.instance_) machine_.host_buffers.give_back(entry_);
  }

  void* data() override { return entry_.buffer->mapped; }
  void wait() override {
    uint64_t reached = 0;
    check(Timeline::await(machine_.context, arrived_, reached), "waiting for a copy to the host");
  }
  void copy_in(void* handle, size_t offset) override {
    const std::lock_guard guard(device_.lock_);
    Range& range = *static_cast<Range*>(handle);
    entry_.busy_until = device_.machine_of(range).stream.begin_copy_in(range, offset, *entry_.buffer, bytes_);
  }

 private:
  VulkanDevice& device_;
  Machine& machine_;
  HostBuffers::Entry& entry_;
  Timeline::Point arrived_{};
  const size_t bytes_;
};

std::unique_ptr<HostCopy> VulkanDevice::begin_copy_out(const void* handle, size_t offset, size_t bytes) {
  constexpr size_t kMost =
      64 << 20;  // a larger copy would keep the device from other work for long and take much host memory
  if (bytes == 0 || bytes > kMost) return nullptr;
  const std::lock_guard guard(lock_);
  Range& range = *static_cast<Range*>(const_cast<void*>(handle));  // not const: the range records the read
  Machine& machine = machine_of(range);
  machine.stream.faults().check_sound(range);
  auto copy = std::make_unique<CopyOfRange>(*this, machine, range, offset, bytes);
  ++copies_out_;
  return copy;
}

namespace {

// Whether an operand or a result has type `narrowest` or a later one in DType (the complex types are the
// last).
bool any_complex(const Call& call, DType narrowest) {
  const auto any = [&](const Operands& list) {
    return std::any_of(list.begin(), list.end(),
                       [&](const Tensor& x) { return x.defined() && x.dtype() >= narrowest; });
  };
  return any(call.in) || any(call.out);
}

}  // namespace

bool VulkanDevice::supports(const Call& call) const {
  const Kernel* kernel = find_kernel(*call.op);
  if (!kernel || any_complex(call, kernel->complex ? DType::c128 : DType::c64) ||
      !(kernel->supports(call) || runs_in_parts(*kernel, call)))
    return false;
  return physical_.float64 || !kernel->float64 || !kernel->float64(call);
}

std::string VulkanDevice::why_not(const Call& call) const {
  const Kernel* kernel = find_kernel(*call.op);
  return kernel ? too_many_elements(*kernel, call) : std::string();
}

void VulkanDevice::run(const Call& call) {
  const Kernel* kernel = find_kernel(*call.op);
  if (!kernel) fail_as(ErrorKind::device, call.op->name, ": ", name_, " has no kernel for this op");
  const std::lock_guard guard(lock_);
  Recorder& recorder = machine().recorder;
  const Faults::Caller caller(recorder.stream.faults(), call.op->name, called_op(), context().line);
  runs_in_parts(*kernel, call) ? run_in_parts(*kernel, call, recorder) : kernel->run(call, recorder);
}

bool VulkanDevice::fuses(const Call& call) const { return can_fuse(call); }

void VulkanDevice::run_group(const CallGroup& group) {
  const std::lock_guard guard(lock_);
  const Faults::Caller caller(machine().recorder.stream.faults(), "group", called_op(), context().line);
  Recorder& recorder = machine().recorder;
  if (run_casts(group, recorder)) return;
  FusedRun outcome = run_fused(group, recorder);
  if (outcome == FusedRun::done) return;
  const auto run_each = [&](const CallGroup& calls) {
    for (const CallGroup::Member& member : calls.members) {
      member.call->output().storage().allocate();
      run(*member.call);
    }
  };
  if (outcome == FusedRun::later) return run_each(group);
  for (const CallGroup& part : parts_without_rows(group)) {
    for (const CallGroup::Member& member : part.members) member.call->output().storage().allocate();
    outcome = part.members.size() > 1 ? run_fused(part, recorder) : FusedRun::never;
    if (outcome != FusedRun::done) run_each(part);
  }
}

void VulkanDevice::sync() {
  const std::lock_guard guard(lock_);
  if (machine_) machine_->stream.wait();
}

DeviceMemory VulkanDevice::memory() const {
  const std::lock_guard guard(lock_);
  return machine_ ? machine_->memory.usage() : DeviceMemory{};
}

void VulkanDevice::reset_peak() {
  const std::lock_guard guard(lock_);
  if (machine_) machine_->memory.reset_peak();
}

void VulkanDevice::release_unused() {
  const std::lock_guard guard(lock_);
  if (!machine_) return;
  machine_->sorted_indices.clear();
  machine_->unit_operands.clear();
  machine_->stream.wait();
  machine_->memory.release_unused();
}

bool VulkanDevice::watch_work(bool on) {
  const std::lock_guard guard(lock_);
  return machine().stream.watch_work(on);
}

std::vector<DeviceWork> VulkanDevice::take_work() {
  const std::lock_guard guard(lock_);
  return machine().stream.take_work();
}

std::vector<KernelUse> VulkanDevice::kernels() const {
  const std::lock_guard guard(lock_);
  return machine_ ? machine_->pipelines.kernels() : std::vector<KernelUse>{};
}

int64_t VulkanDevice::compile(const KernelSource& source) { return compile_user_kernel(source, physical_); }

std::vector<ProductPlan> VulkanDevice::possible_plans(const Call& call) {
  const std::lock_guard guard(lock_);
  const Product p = product_of(call.input(0), call.input(1), false, physical_);
  return p.converted() ? std::vector<ProductPlan>{} : gpu::possible_plans(p, physical_, rates_);
}

ProductPlan VulkanDevice::plan_of(const Call& call) {
  const std::lock_guard guard(lock_);
  const Product p = product_of(call.input(0), call.input(1), false, physical_);
  const auto [tile, parts] = gpu::plan_of(p, physical_, rates_, products_);
  return {tile->bm, tile->bn, parts};
}

void VulkanDevice::set_plan(const Call& call, const ProductPlan* plan) {
  const std::lock_guard guard(lock_);
  const ProductKey key = key_of(product_of(call.input(0), call.input(1), false, physical_));
  plan ? products_.set(key, *plan) : products_.erase(key);
}

bool VulkanDevice::computes_on_cpu() const { return physical_.type == VK_PHYSICAL_DEVICE_TYPE_CPU; }

std::string VulkanDevice::keep_plans() {
  const std::lock_guard guard(lock_);
  return products_.save() ? products_.path() : std::string();
}

}  // namespace lunagrad::gpu

#include "runtime/batching/batched.h"

#include <algorithm>
#include <map>
#include <memory>

#include "runtime/core/shared_device.h"

namespace lunagrad {

constinit thread_local int64_t batching_in_use = 0;

namespace {

struct Batch {
  Tensor value;
  BatchLevels levels;
};

thread_local Batch* next_batch = nullptr;  // the Batch of the storage that is being made

[[noreturn]] void refuse_reading() { throw BatchedRead(); }

// The device of batched tensors whose values lie on `inner`. Its handles are Batches.
class BatchDevice final : public Device {
 public:
  explicit BatchDevice(Device& inner) : inner_(inner) {}
  Device& inner() const { return inner_; }

  std::string_view name() const override { return inner_.name(); }
  std::string description() const override { return inner_.description(); }
  void* alloc(size_t) override {
    if (!next_batch) throw BatchedRead();
    ++batching_in_use;
    return std::exchange(next_batch, nullptr);
  }
  void free(void* handle, size_t) noexcept override {
    if (!handle) return;
    delete static_cast<Batch*>(handle);
    --batching_in_use;
  }
  void copy_in(void*, size_t, const void*, size_t) override { refuse_reading(); }
  void copy_out(void*, const void*, size_t, size_t) override { refuse_reading(); }
  bool supports(const Call&) const override { return true; }
  void run(const Call&) override { refuse_reading(); }
  void sync() override { inner_.sync(); }
  DeviceMemory memory() const override { return inner_.memory(); }
  void reset_peak() override { inner_.reset_peak(); }
  void release_unused() override { inner_.release_unused(); }

 private:
  Device& inner_;
};

BatchDevice& batch_device(Device& inner) {
  thread_local std::map<Device*, std::unique_ptr<BatchDevice>> made;
  std::unique_ptr<BatchDevice>& device = made[&inner];
  if (!device) device = std::make_unique<BatchDevice>(inner);
  return *device;
}

const BatchDevice* as_batch_device(const Device& device) { return dynamic_cast<const BatchDevice*>(&device); }

const Batch& batch_of(const Tensor& x) { return *static_cast<const Batch*>(x.storage().data()); }

struct Running {
  BatchLevels levels;
  std::vector<Randomness> randomness;
};
thread_local Running running;

}  // namespace

BatchedRead::BatchedRead()
    : Error(
          "vmap: the elements of a batched tensor cannot be read, since the function runs once for all "
          "samples; use tensor ops such as where() instead of item(), tolist() or an if") {}

uint64_t enter_batch(int64_t size, Randomness randomness) {
  thread_local uint64_t last_id = 0;
  running.levels.push_back({++last_id, size});
  running.randomness.push_back(randomness);
  ++batching_in_use;
  return last_id;
}

void leave_batch(uint64_t id) {
  while (!running.levels.empty() && running.levels.back().id >= id) {
    running.levels.pop_back();
    running.randomness.pop_back();
    --batching_in_use;
  }
}

const BatchLevels& active_levels() { return running.levels; }

Randomness randomness_of(const BatchLevel& level) {
  const auto found = std::find(running.levels.begin(), running.levels.end(), level);
  assert(found != running.levels.end());
  return running.randomness[size_t(found - running.levels.begin())];
}

bool is_batched(const Tensor& x) {
  return batching_in_use && x.defined() && bool(x.body()->storage) && as_batch_device(x.device());
}

const Tensor& batch_value(const Tensor& x) { return batch_of(x).value; }

BatchLevels levels_of(const Tensor& x) { return is_batched(x) ? batch_of(x).levels : BatchLevels(); }

Tensor make_batched(const Tensor& value, BatchLevels levels) {
  if (levels.empty()) return value;
  Shape shape = value.shape();
  Strides strides = value.strides();
  shape.erase(0);
  strides.erase(0);
  auto batch = std::make_unique<Batch>(Batch{value, std::move(levels)});
  next_batch = batch.get();
  Ref<Storage> storage(new Storage(batch_device(value.device()), 0));
  batch.release();
  return Tensor(std::move(storage), LayoutRef(new Layout(shape, strides)), 0, value.dtype());
}

Device* shared_device(Device& a, Device& b) {
  if (&a == &b || &physical_device(b) == &a) return &b;
  return &physical_device(a) == &b ? &a : nullptr;
}

Device& physical_device(Device& device) {
  const BatchDevice* const batched = as_batch_device(device);
  return batched ? batched->inner() : device;
}

}  // namespace lunagrad

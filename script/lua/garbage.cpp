#include "script/lua/garbage.h"

#include <algorithm>
#include <utility>

#include "runtime/core/device.h"

namespace lunagrad {
namespace {

// The bytes of the tensors on the CPU and on the default device, and how much they may grow by garbage. A GPU
// writes gigabytes during a full collection, but it also works during one, as it has recorded work to do.
class TensorBytes {
 public:
  TensorBytes() {
    Device& device = *context().device;
    if (device.is_cpu()) return;
    const DeviceMemory memory = device.memory();
    live += memory.in_use;
    gpu_ = memory.total;
    rest = 16;
  }
  // At this growth a full collection runs if the last one was `rest` times its duration ago.
  size_t worth(size_t base) const { return gpu_ ? kSpare + gpu_ / 512 + base / 8 : most(base); }
  // At this growth it runs in any case.
  size_t most(size_t base) const { return kSpare + gpu_ / 128 + base / 4; }

  size_t live = cpu_device().memory().in_use;
  uint64_t rest = 32;

 private:
  static constexpr size_t kSpare = size_t(64) << 20;
  size_t gpu_ = 0;  // bytes of the GPU
};

bool has_rested(const Pressure& pressure, const TensorBytes& tensors) {
  return pressure.clock() - pressure.full_ended >= tensors.rest * pressure.full_length;
}

// Restores the place, because a finalizer may call ops.
struct KeptPlace {
  SourceLine line = context().line;
  uint32_t module = context().module;
  ~KeptPlace() {
    context().line = line;
    context().module = module;
  }
};

void collect_all(lua_State* L, Pressure& pressure) {
  const uint64_t start = pressure.clock();
  lua_gc(L, LUA_GCCOLLECT);
  pressure.base = TensorBytes().live;
  pressure.ended = pressure.full_ended = pressure.clock();
  pressure.full_length = pressure.full_ended - start;
}

}  // namespace

// Lua's collector is generational. A young collection finds young garbage in microseconds, so the next op
// reuses the memory of the last op's result while it is in the processor's cache. A value that survived two
// collections is old, and only a full collection frees it. A full collection runs when the bytes of the
// tensors have grown by 64 MiB plus a quarter, so the share of its time does not grow with the model. On a
// GPU the ops of a layer write as much, so that most of its garbage is old: there it runs earlier if its time
// allows.
void collect_under_pressure(lua_State* L, BindingState& state) {
  constexpr size_t kParts = 64, kMostHandles = 1024;
  constexpr double kShare = 0.05, kHandle = 300;  // share of the time; nanoseconds per tensor freed
  Pressure& pressure = state.pressure;
  const size_t handles = std::exchange(pressure.handles, 0);
  pressure.bytes = 0;
  if (lua_gc(L, LUA_GCISRUNNING) != 1) return;  // -1: in a finalizer
  const KeptPlace place;
  const TensorBytes before;
  pressure.base = std::min(pressure.base, before.live);
  size_t growth = before.most(pressure.base);
  if (state.memory_limit) growth = std::min(growth, state.memory_limit / 8);
  const uint64_t start = pressure.clock();
  const size_t grown = before.live - pressure.base;
  if (grown > growth || (grown > before.worth(pressure.base) && has_rested(pressure, before))) {
    collect_all(L, pressure);
  } else {
    // A step large enough for Lua to check whether its own heap needs a full collection.
    lua_gc(L, LUA_GCSTEP, lua_gc(L, LUA_GCCOUNT) + 1);
    const double since = ticks_to_ns(start - pressure.ended);
    pressure.ended = pressure.clock();
    // Collect less often where much must be traversed, as while a long table is filled.
    const double cost = ticks_to_ns(pressure.ended - start);
    const bool dear = cost > kShare * since + kHandle * double(handles);
    pressure.scale = dear ? std::min(2 * pressure.scale, kParts) : std::max<size_t>(pressure.scale / 2, 1);
  }
  pressure.most_bytes = std::max<size_t>(growth / kParts, 1) * pressure.scale;
  pressure.most_handles = kMostHandles * pressure.scale;
}

bool collect_dropped(lua_State* L, BindingState& state, size_t pending) {
  constexpr size_t kWorth = size_t(16) << 20;
  Pressure& pressure = state.pressure;
  if (lua_gc(L, LUA_GCISRUNNING) != 1) return false;
  const TensorBytes tensors;
  pressure.base = std::min(pressure.base, tensors.live);
  if (tensors.live + pending - pressure.base < kWorth) return false;
  if (!has_rested(pressure, tensors)) return false;
  const KeptPlace place;
  collect_all(L, pressure);
  return true;
}

void collect_everything(lua_State* L) {
  lua_gc(L, LUA_GCCOLLECT);
  cpu_device().release_unused();
  if (Device& device = *context().device; !device.is_cpu()) {
    device.sync();
    device.release_unused();
  }
}

}  // namespace lunagrad

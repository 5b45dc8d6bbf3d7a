#include "capi/engine.h"

#include "capi/sessions.h"
#include "capi/structs.h"
#include "runtime/core/op_name.h"
#include "runtime/cpu/device/cpu_device.h"
#include "runtime/cpu/parallel.h"
#ifdef LUNAGRAD_HAS_GPU
#include "gpu/gpu.h"
#endif

namespace lunagrad::capi {

[[gnu::tls_model("initial-exec")]] constinit thread_local Engine* active = nullptr;

namespace {

constexpr size_t kOptions = 48, kEngineInfo = 64, kDeviceInfo = 56, kThreadPool = 24,
                 kAllocator = 32;  // sizes of the first versions
static_assert(sizeof(lg_engine_options) == kOptions && sizeof(lg_engine_info) == kEngineInfo + 16 &&
              sizeof(lg_device_info) == kDeviceInfo && sizeof(lg_thread_pool) == kThreadPool &&
              sizeof(lg_allocator) == kAllocator);
constexpr int32_t kMostThreads = 1024;

void install_devices() {
#ifdef LUNAGRAD_HAS_GPU
  static const bool installed = (gpu::install(), true);
  (void)installed;
#endif
}

void set_log(Engine& engine, lg_log function, void* user) {
  auto log = function ? std::make_unique<Log>(function, user) : nullptr;
  engine.context.trace = log.get();
  engine.log = std::move(log);
}

}  // namespace

void Log::fell_back(const Call& call, const char* reason) {
  if (!told_.insert(call.op).second) return;
  const std::string line = text(public_op_name(call.op->name), " runs on the CPU: ", reason);
  function_(user_, LG_LOG_WARNING, line.c_str(), line.size());
}

Engine::~Engine() {
  if (active == this) activate(nullptr);
}

void activate(Engine* engine) {
  set_context(engine ? &engine->context : nullptr);
  set_memory_limit(engine ? engine->limit : MemoryLimit());
  active = engine;
}

std::mutex& ending_mutex() {
  static std::mutex instance;
  return instance;
}

Engine& own_engine_of(const lg_engine* handle) {
  Engine& engine = engine_of(handle);
  if (engine.of_session())
    refuse(LG_INVALID_ARGUMENT,
           "the engine belongs to a session, and this function is for the host's engines");
  return engine;
}

lg_text* new_text(Engine& engine, std::string bytes) {
  engine.slots.reserve(1);
  return engine.slots.add(new std::string(std::move(bytes)));
}

Device& device_of(const char* name) { return name ? require_device(name) : *context().device; }

const char* lasting(std::string_view text) { return interned(intern(text)).c_str(); }

}  // namespace lunagrad::capi

using namespace lunagrad;
using namespace lunagrad::capi;

lg_code lg_engine_open(const lg_engine_options* options, lg_engine** engine) {
  return wall([&] {
    require(engine, "engine");
    install_devices();
    lg_engine_options given{};
    if (options) given = read_struct(options, kOptions, "lg_engine_options");
    auto made = std::make_unique<Engine>();
    lg_engine* handle;
    {
      const Work work(*made);
      if (given.device) made->context.device = &device_of(given.device);
      made->context.generator.seed(given.seed);
      made->limit.bytes = given.memory_limit;
      activate(made.get());
      set_log(*made, given.log, given.log_user);
      made->slots.reserve(1);
      handle = made->slots.add_engine();
    }
    (void)made.release();
    *engine = handle;
  });
}

lg_code lg_engine_close(lg_engine* engine) {
  return wall([&] {
    if (!engine) return;
    Engine* const held = &own_engine_of(engine);
    {
      const Work work(*held);
      while (HandleSlot* const session = held->slots.find_session()) close_session(*session);
      {
        const std::lock_guard lock(ending_mutex());
        held->slots.release(slot_of(engine, Kind::engine));
      }
      held->slots.release_all();
    }
    delete held;
  });
}

lg_code lg_engine_stop(lg_engine* engine, int32_t stop) {
  return wall([&] {
    const std::lock_guard lock(ending_mutex());
    Engine& held = *any_thread_slot(engine, Kind::engine).engine;
    if (held.of_session()) refuse(LG_INVALID_ARGUMENT, "lg_session_stop() stops the engine of a session");
    held.context.stop_requested = stop != 0;
  });
}

lg_code lg_engine_set_device(lg_engine* engine, const char* device) {
  return wall([&] {
    require(device, "device");
    Engine& held = own_engine_of(engine);
    const Work work(held);
    held.context.device = &require_device(device);
  });
}

lg_code lg_engine_set_seed(lg_engine* engine, uint64_t seed) {
  return wall([&] {
    Engine& held = engine_of(engine);
    const Work work(held);
    held.context.generator.seed(seed);
  });
}

lg_code lg_engine_set_grad_enabled(lg_engine* engine, int32_t enabled, int32_t* before) {
  return wall([&] {
    Engine& held = engine_of(engine);
    const Work work(held);
    if (before) *before = held.context.grad_enabled;
    held.context.grad_enabled = enabled != 0;
  });
}

lg_code lg_engine_set_memory_limit(lg_engine* engine, uint64_t bytes) {
  return wall([&] {
    Engine& held = own_engine_of(engine);
    const Work work(held);
    held.limit.bytes = bytes;
    activate(&held);
  });
}

lg_code lg_engine_set_log(lg_engine* engine, lg_log log, void* user) {
  return wall([&] {
    Engine& held = own_engine_of(engine);
    const Work work(held);
    set_log(held, log, user);
  });
}

lg_code lg_engine_get_info(lg_engine* engine, lg_engine_info* info) {
  return wall([&] {
    Engine& held = engine_of(engine);
    const Work work(held);
    lg_engine_info found{};
    found.grad_enabled = held.context.grad_enabled;
    found.device = lasting(held.context.device->name());
    found.seed = held.context.generator.seed();
    found.memory_limit = held.limit.bytes;
    found.memory_in_use = memory_in_use();
    found.tensors = held.slots.tensors;
    found.texts = held.slots.texts;
    found.threads = thread_count();
    found.values = held.slots.values;
    found.sessions = held.slots.sessions;
    write_struct(info, found, kEngineInfo, "lg_engine_info");
  });
}

lg_code lg_set_thread_count(int32_t count) {
  return wall([&] {
    if (count < 1 || count > kMostThreads)
      refuse(LG_INVALID_ARGUMENT, "count is ", count, ", not 1 to ", kMostThreads);
    set_thread_count(count);
  });
}

lg_code lg_set_thread_pool(const lg_thread_pool* pool) {
  return wall([&] {
    if (!pool) return use_host_threads({});
    const lg_thread_pool given = read_struct(pool, kThreadPool, "lg_thread_pool");
    require(reinterpret_cast<const void*>(given.run), "lg_thread_pool: run");
    if (given.count < 1 || given.count > kMostThreads)
      refuse(LG_INVALID_ARGUMENT, "lg_thread_pool: count is ", given.count, ", not 1 to ", kMostThreads);
    use_host_threads({given.run, given.user, given.count});
  });
}

lg_code lg_set_allocator(const lg_allocator* allocator) {
  return wall([&] {
    const lg_allocator given = read_struct(allocator, kAllocator, "lg_allocator");
    require(reinterpret_cast<const void*>(given.allocate), "lg_allocator: allocate");
    require(reinterpret_cast<const void*>(given.free), "lg_allocator: free");
    if (!use_host_memory({given.allocate, given.free, given.user}))
      refuse(LG_BUSY, "a tensor was made before the allocator was set");
  });
}

lg_code lg_device_count(lg_engine* engine, size_t* count) {
  return wall([&] {
    require(count, "count");
    const Work work(engine_of(engine));
    *count = devices().size();
  });
}

lg_code lg_device_get(lg_engine* engine, size_t index, lg_device_info* info) {
  return wall([&] {
    const Work work(engine_of(engine));
    const auto all = devices();
    if (index >= all.size()) refuse(LG_NOT_FOUND, "there are ", all.size(), " devices, and index is ", index);
    const Device& device = *all[index];
    const DeviceMemory memory = device.memory();
    lg_device_info found{};
    found.is_cpu = device.is_cpu();
    found.name = lasting(device.name());
    found.description = lasting(device.description());
    found.in_use = memory.in_use;
    found.reserved = memory.reserved;
    found.peak = memory.peak;
    found.total = memory.total;
    write_struct(info, found, kDeviceInfo, "lg_device_info");
  });
}

lg_code lg_device_missing(lg_engine* engine, lg_text** reasons) {
  return wall([&] {
    require(reasons, "reasons");
    Engine& held = engine_of(engine);
    const Work work(held);
    *reasons = new_text(held, missing_devices());
  });
}

lg_code lg_device_sync(lg_engine* engine, const char* device) {
  return wall([&] {
    const Work work(engine_of(engine));
    device_of(device).sync();
  });
}

lg_code lg_text_get(lg_text* text, const char** bytes, size_t* length) {
  return wall([&] {
    require(bytes, "bytes");
    const std::string& held = *slot_of(text, Kind::text).text;
    *bytes = held.c_str();
    if (length) *length = held.size();
  });
}

lg_code lg_text_release(lg_text* text) {
  return wall([&] {
    if (!text) return;
    HandleSlot& slot = slot_of(text, Kind::text);
    const Busy busy(*slot.engine);
    slot.engine->slots.release(slot);
  });
}

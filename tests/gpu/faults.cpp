#include "tests/gpu/faults.h"

#include <volk.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <string_view>

namespace lunagrad::tests {
namespace {

using Clock = std::chrono::steady_clock;

std::atomic<uint64_t> calls = 0, submissions = 0, failing_call = 0, failing_submission = 0;
std::atomic<bool> failed = false, pipelines_fail = false;
std::atomic<Clock::duration> failed_at{};

std::mutex holding;
std::condition_variable let_go;
bool held = false, too_long = false;

void wait_while_held() {
  std::unique_lock lock(holding);
  if (!let_go.wait_for(lock, std::chrono::seconds(10), [] { return !held; })) too_long = true;
}

bool fails(bool submission) {
  const bool this_call = ++calls == failing_call;
  const bool this_submission = submission && ++submissions == failing_submission;
  if (!this_call && !this_submission) return false;
  failed = true;
  failed_at = Clock::now().time_since_epoch();
  return true;
}

// A wrapper of a driver's function that can fail. `Tag` distinguishes functions of the same type.
template <class Tag, class Function>
struct FailingCall;
template <class Tag, class... Arguments>
struct FailingCall<Tag, VkResult(VKAPI_PTR*)(Arguments...)> {
  // Each new device sets it again, while threads of another device call it.
  static inline std::atomic<VkResult(VKAPI_PTR*)(Arguments...)> real = nullptr;
  static VKAPI_ATTR VkResult VKAPI_CALL call(Arguments... arguments) {
    if (Tag::makes_pipelines()) wait_while_held();
    if (Tag::makes_pipelines() && pipelines_fail) return Tag::result();
    return fails(Tag::submits()) ? Tag::result() : real.load()(arguments...);
  }
};

struct Watched {
  const char* name;
  PFN_vkVoidFunction (*watch)(PFN_vkVoidFunction real);
};

#define LUNAGRAD_CALL(function, code)                                                            \
  [] {                                                                                           \
    struct Tag {                                                                                 \
      static constexpr VkResult result() { return code; }                                        \
      static constexpr bool submits() { return std::string_view(#function) == "vkQueueSubmit"; } \
      static constexpr bool makes_pipelines() {                                                  \
        return std::string_view(#function) == "vkCreateComputePipelines";                        \
      }                                                                                          \
    };                                                                                           \
    return Watched{#function, [](PFN_vkVoidFunction real) {                                      \
                     using Its = FailingCall<Tag, PFN_##function>;                               \
                     Its::real = reinterpret_cast<PFN_##function>(real);                         \
                     return reinterpret_cast<PFN_vkVoidFunction>(&Its::call);                    \
                   }};                                                                           \
  }()

const Watched kWatched[] = {
    LUNAGRAD_CALL(vkCreateBuffer, VK_ERROR_OUT_OF_DEVICE_MEMORY),
    LUNAGRAD_CALL(vkAllocateMemory, VK_ERROR_OUT_OF_DEVICE_MEMORY),
    LUNAGRAD_CALL(vkBindBufferMemory, VK_ERROR_OUT_OF_DEVICE_MEMORY),
    LUNAGRAD_CALL(vkMapMemory, VK_ERROR_MEMORY_MAP_FAILED),
    LUNAGRAD_CALL(vkCreateCommandPool, VK_ERROR_OUT_OF_HOST_MEMORY),
    LUNAGRAD_CALL(vkCreateSemaphore, VK_ERROR_OUT_OF_HOST_MEMORY),
    LUNAGRAD_CALL(vkCreatePipelineLayout, VK_ERROR_OUT_OF_HOST_MEMORY),
    LUNAGRAD_CALL(vkCreatePipelineCache, VK_ERROR_OUT_OF_HOST_MEMORY),
    LUNAGRAD_CALL(vkCreateShaderModule, VK_ERROR_OUT_OF_HOST_MEMORY),
    LUNAGRAD_CALL(vkCreateComputePipelines, VK_ERROR_OUT_OF_DEVICE_MEMORY),
    LUNAGRAD_CALL(vkAllocateCommandBuffers, VK_ERROR_OUT_OF_HOST_MEMORY),
    LUNAGRAD_CALL(vkBeginCommandBuffer, VK_ERROR_OUT_OF_DEVICE_MEMORY),
    LUNAGRAD_CALL(vkEndCommandBuffer, VK_ERROR_OUT_OF_DEVICE_MEMORY),
    LUNAGRAD_CALL(vkQueueSubmit, VK_ERROR_DEVICE_LOST),
    LUNAGRAD_CALL(vkGetSemaphoreCounterValue, VK_ERROR_DEVICE_LOST),
    LUNAGRAD_CALL(vkWaitSemaphores, VK_ERROR_DEVICE_LOST),
};
#undef LUNAGRAD_CALL

PFN_vkGetDeviceProcAddr loaders = nullptr;

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL find_function(VkDevice device, const char* name) {
  const PFN_vkVoidFunction real = loaders(device, name);
  for (const Watched& watched : kWatched)
    if (real && std::strcmp(watched.name, name) == 0) return watched.watch(real);
  return real;
}

}  // namespace

void watch_calls() {
  if (vkGetDeviceProcAddr == find_function) return;
  loaders = vkGetDeviceProcAddr;
  vkGetDeviceProcAddr = find_function;  // volk loads device functions with it
}

void fail_call(uint64_t at) {
  failed = false;
  calls = 0;
  failing_call = at;
}

void fail_submission(uint64_t at) {
  failed = false;
  submissions = 0;
  failing_submission = at;
}

void fail_pipelines(bool on) { pipelines_fail = on; }

void hold_pipelines(bool on) {
  const std::lock_guard lock(holding);
  held = on;
  if (!on) return let_go.notify_all();
  too_long = false;
}
bool held_too_long() {
  const std::lock_guard lock(holding);
  return too_long;
}

bool call_failed() { return failed; }
double seconds_since_failure() {
  return std::chrono::duration<double>(Clock::now().time_since_epoch() - failed_at.load()).count();
}

}  // namespace lunagrad::tests

#pragma once
// The CPU as a device: a caching allocator, and running a Call by calling its op's kernel on the calling
// thread (kernels divide their own work, see parallel.h). Any thread may use it. Device functions: device.h.
//
// Blocks have size classes, four for each power of two. A freed block goes to the free list of its class, so
// a training loop in its steady state allocates nothing from the system. Blocks up to 128 KiB are parts of
// slabs of 1 MiB; larger blocks are separate mappings, with huge pages from 2 MiB.
#include <atomic>
#include <cstdint>
#include <vector>

#include "runtime/core/device.h"

namespace lunagrad {

// Memory of a program that embeds the engine, from which tensors get theirs: each block is asked for and
// given back by itself, on any thread.
struct HostMemory {
  void* (*allocate)(void* user, size_t bytes, size_t alignment) = nullptr;  // null when there is no room
  void (*free)(void* user, void* block, size_t bytes) = nullptr;
  void* user = nullptr;
};
// For all tensors on the CPU. False, and nothing changes, if there was one already.
bool use_host_memory(const HostMemory&);

class CpuDevice final : public Device {
 public:
  CpuDevice();

  std::string_view name() const override { return "cpu"; }
  std::string description() const override;  // "AVX3, 2 threads, OpenBLAS Cooperlake"
  bool is_cpu() const override { return true; }

  // Error, before any page is touched, when the block is larger than the machine's available memory.
  void* alloc(size_t bytes) override;
  void free(void* handle, size_t bytes) noexcept override;
  void copy_in(void* handle, size_t offset, const void* from, size_t bytes) override;
  void copy_out(void* to, const void* handle, size_t offset, size_t bytes) override;

  bool supports(const Call&) const override;
  void run(const Call&) override;
  bool fuses(const Call&) const override;
  void run_group(const CallGroup&) override;
  void sync() override {}
  DeviceMemory memory() const override;
  void reset_peak() override;
  void release_unused() override;

 private:
  static constexpr int kClasses = 160;  // up to 2^46 bytes, more than any machine has
  struct FreeBlock {
    FreeBlock* next;
  };

  void* alloc_new(int size_class, size_t bytes);
  void* alloc_from_host(size_t bytes);
  void* cut_slab(int size_class);
  void* map_block(int size_class, size_t bytes);
  void admit(size_t mapping, size_t bytes);
  size_t unmap_free_blocks();
  size_t unmap_free_slabs();

  // Held for a few instructions. System calls are made without it, except for calls that give memory back.
  class Lock;
  mutable std::atomic_flag locked_;
  FreeBlock* free_[kClasses] = {};
  size_t in_use_ = 0;  // bytes, of requested sizes rounded up to their classes
  size_t reserved_ = 0;
  size_t peak_ = 0;
  size_t idle_ = 0;  // bytes of the free mappings
  uint32_t colour_ = 0;
  std::vector<char*> slabs_[kClasses];

  std::atomic<size_t> allowance_{0};  // bytes that may be mapped before checking available memory again
};

}  // namespace lunagrad

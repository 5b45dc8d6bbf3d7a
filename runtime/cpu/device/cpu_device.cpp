#include "runtime/cpu/device/cpu_device.h"

#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <thread>
#include <unordered_map>

#include "runtime/core/error.h"
#include "runtime/core/figures.h"
#include "runtime/core/op.h"
#include "runtime/cpu/parallel.h"
#include "runtime/cpu/simd_targets.h"
#include "runtime/deferral/cpu/fused.h"
#include "runtime/ops/products/cpu/bf16_kernels.h"
#include "runtime/ops/products/cpu/blas.h"
#include "runtime/ops/products/cpu/blas_kernels.h"
#include "runtime/system/memory.h"

namespace lunagrad {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kCache =
    false;  // each block is a heap block, so that the sanitizer checks its bounds and use after free
#else
constexpr bool kCache = true;
#endif

constexpr std::align_val_t kBlockAlignment{64};  // of heap blocks, and of the program's
constexpr size_t kPage = 4096;
constexpr size_t kHugePage = size_t(2) << 20;
constexpr size_t kSlab = size_t(1) << 20;
constexpr size_t kLargestInSlab = size_t(128) << 10;
constexpr size_t kLargest = size_t(1) << 46;
constexpr size_t kKeptIdle = size_t(1) << 30;    // bytes of free mappings kept until release_unused()
constexpr size_t kAllowance = size_t(64) << 20;  // bytes mapped between two checks of available memory

// Classes 0 … 3 are 64, 128, 192, 256 bytes; above these, each power of two has four classes.
int class_of(size_t bytes) {
  if (bytes <= 256) return int((bytes + 63) / 64) - 1;
  const int power = std::bit_width(bytes - 1) - 1;
  return 4 + (power - 8) * 4 + int((bytes - 1) >> (power - 2) & 3);
}

size_t class_size(int size_class) {
  if (size_class < 4) return size_t(size_class + 1) * 64;
  const int power = (size_class - 4) / 4 + 8;
  return size_t((size_class - 4) % 4 + 5) << (power - 2);
}

// A mapping has the size of its class plus one page: blocks start at different offsets into their first page,
// because streams whose addresses agree in the low 12 bits wait for each other ("4K aliasing").
// After whole huge pages this page is a small one: a huge one would make 6 MiB of a block of 4 MiB.
size_t mapping_size(int size_class) {
  const size_t size = class_size(size_class);
  const size_t page = size > kHugePage && size % kHugePage ? kHugePage : kPage;
  return (size + kPage + page - 1) / page * page;
}

char* mapping_of(void* block, int size_class) {
  const size_t page = class_size(size_class) >= kHugePage ? kHugePage : kPage;
  return reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(block) & ~(page - 1));
}

HostMemory host_memory;
std::atomic<bool> allocated{false};

}  // namespace

bool use_host_memory(const HostMemory& memory) {
  if (allocated) return false;
  host_memory = memory;
  return true;
}

class CpuDevice::Lock {
 public:
  explicit Lock(std::atomic_flag& flag) : flag_(flag) {
    for (int spins = 0; flag_.test_and_set(std::memory_order_acquire); ++spins)
      if (spins > 64) std::this_thread::yield();
  }
  ~Lock() { flag_.clear(std::memory_order_release); }
  Lock(const Lock&) = delete;

 private:
  std::atomic_flag& flag_;
};

CpuDevice::CpuDevice() {
  blas::use_one_thread();
  blas::use_best_kernels();
}

std::string CpuDevice::description() const {
  const int64_t targets = supported_simd_targets() & HWY_TARGETS;
  const Bf16Kernel* const halves = bf16_kernel();
  return text(hwy::TargetName(targets & -targets), ", ", thread_count(),
              thread_count() == 1 ? " thread, " : " threads, ", blas::description(),
              halves ? ", bf16 products " : "", halves ? halves->name : "");
}

void* CpuDevice::alloc(size_t bytes) {
  if (bytes == 0) return nullptr;
  if (bytes > kLargest)
    fail_as(ErrorKind::memory, "cpu: out of memory: no machine has ", bytes_figure(double(bytes)));
  const int size_class = class_of(bytes);
  if (host_memory.allocate) [[unlikely]]
    return alloc_from_host(bytes);
  if constexpr (kCache) {
    const Lock lock(locked_);
    if (FreeBlock* block = free_[size_class]) {
      free_[size_class] = block->next;
      const size_t size = class_size(size_class);
      if (size > kLargestInSlab) idle_ -= mapping_size(size_class);
      in_use_ += size;
      peak_ = std::max(peak_, in_use_);
      return block;
    }
  }
  return alloc_new(size_class, bytes);
}

void CpuDevice::free(void* handle, size_t bytes) noexcept {
  if (!handle) return;
  const int size_class = class_of(bytes);
  const size_t size = class_size(size_class);
  const Lock lock(locked_);
  in_use_ -= size;
  if (host_memory.free) [[unlikely]] {
    reserved_ -= size;
    host_memory.free(host_memory.user, handle, size);
  } else if constexpr (!kCache) {
    reserved_ -= size;
    ::operator delete(handle, kBlockAlignment);
  } else {
    if (size > kLargestInSlab) idle_ += mapping_size(size_class);
    free_[size_class] = new (handle) FreeBlock{free_[size_class]};
  }
}

void* CpuDevice::alloc_from_host(size_t bytes) {
  allocated = true;
  const size_t size = class_size(class_of(bytes));
  void* const block = host_memory.allocate(host_memory.user, size, size_t(kBlockAlignment));
  if (!block)
    fail_as(ErrorKind::memory, "cpu: out of memory: the program's allocator gave no block of ",
            bytes_figure(double(size)));
  const Lock lock(locked_);
  reserved_ += size;
  in_use_ += size;
  peak_ = std::max(peak_, in_use_);
  return block;
}

void* CpuDevice::alloc_new(int size_class, size_t bytes) {
  const size_t size = class_size(size_class);
  void* block = nullptr;
  allocated = true;
  if constexpr (!kCache) {
    admit(bytes, bytes);
    block = ::operator new(bytes, kBlockAlignment, std::nothrow);
  } else {
    block = size <= kLargestInSlab ? cut_slab(size_class) : map_block(size_class, bytes);
  }
  if (!block) {
    fail_as(ErrorKind::memory, "cpu: out of memory: ", bytes_figure(double(bytes)),
            " more do not fit beside the ", bytes_figure(double(memory().in_use)),
            " in use (the system refused)");
  }
  const Lock lock(locked_);
  if (!kCache) reserved_ += size;
  in_use_ += size;
  peak_ = std::max(peak_, in_use_);
  return block;
}

// Makes a slab of blocks of the class; returns the first block and puts the others on the free list.
void* CpuDevice::cut_slab(int size_class) {
  admit(kSlab, class_size(size_class));
  char* slab = map_memory(kSlab, kSlab);
  if (!slab) {
    release_unused();
    slab = map_memory(kSlab, kSlab);
    if (!slab) return nullptr;
  }
  const size_t size = class_size(size_class);
  const Lock lock(locked_);
  try {
    slabs_[size_class].push_back(slab);
  } catch (const std::bad_alloc&) {
    unmap_memory(slab, kSlab);
    return nullptr;
  }
  reserved_ += kSlab;
  for (char* block = slab + (kSlab / size - 1) * size; block > slab; block -= size)
    free_[size_class] = new (block) FreeBlock{free_[size_class]};
  return slab;
}

void* CpuDevice::map_block(int size_class, size_t bytes) {
  const size_t size = mapping_size(size_class);
  bool crowded;
  {
    const Lock lock(locked_);
    crowded = idle_ > std::max(kKeptIdle, peak_ / 2);
  }
  if (crowded) unmap_free_blocks();
  admit(size, bytes);
  const size_t page = class_size(size_class) >= kHugePage ? kHugePage : kPage;
  char* mapping = map_memory(size, page);
  if (!mapping) {
    release_unused();
    mapping = map_memory(size, page);
    if (!mapping) return nullptr;
  }
  if (page == kHugePage) use_huge_pages(mapping, size);
  const Lock lock(locked_);
  reserved_ += size;
  colour_ = (colour_ + 5) % 16;
  return mapping + colour_ * 256;
}

// Throws when `mapping` more bytes would not fit into the machine's memory. Reserved pages that were never
// written count as used: the system would grant them, and kill the process when it writes to them.
void CpuDevice::admit(size_t mapping, size_t bytes) {
  size_t allowance = allowance_.load(std::memory_order_relaxed);
  while (allowance >= mapping)
    if (allowance_.compare_exchange_weak(allowance, allowance - mapping, std::memory_order_relaxed)) return;
  for (bool again = false;; again = true) {
    const size_t reserved = memory().reserved, resident = resident_memory();
    const size_t untouched = reserved > resident ? reserved - resident : 0;
    const size_t available = available_memory();
    const size_t left = available > untouched ? available - untouched : 0;
    if (mapping <= left - left / 64) {
      allowance_.store(std::min(kAllowance, (left - mapping) / 2), std::memory_order_relaxed);
      return;
    }
    if (again)
      fail_as(ErrorKind::memory, "cpu: out of memory: a block of ", bytes_figure(double(bytes)),
              " does not fit: ", bytes_figure(double(left)), " available, ",
              bytes_figure(double(memory().in_use)), " in use");
    release_unused();
  }
}

void CpuDevice::copy_in(void* handle, size_t offset, const void* from, size_t bytes) {
  if (bytes) std::memcpy(static_cast<char*>(handle) + offset, from, bytes);
}

void CpuDevice::copy_out(void* to, const void* handle, size_t offset, size_t bytes) {
  if (bytes) std::memcpy(to, static_cast<const char*>(handle) + offset, bytes);
}

bool CpuDevice::supports(const Call& call) const { return call.op->cpu != nullptr; }

void CpuDevice::run(const Call& call) { call.op->cpu(call); }

bool CpuDevice::fuses(const Call& call) const { return can_fuse(call); }

void CpuDevice::run_group(const CallGroup& group) { run_fused(group); }

DeviceMemory CpuDevice::memory() const {
  const size_t total = machine_memory();
  const Lock lock(locked_);
  return {in_use_, reserved_, peak_, total};
}

void CpuDevice::reset_peak() {
  const Lock lock(locked_);
  peak_ = in_use_;
}

void CpuDevice::release_unused() {
  unmap_free_blocks();
  unmap_free_slabs();
}

size_t CpuDevice::unmap_free_blocks() {
  const Lock lock(locked_);
  size_t released = 0;
  for (int size_class = class_of(kLargestInSlab) + 1; size_class < kClasses; ++size_class) {
    const size_t size = mapping_size(size_class);
    while (FreeBlock* block = free_[size_class]) {
      free_[size_class] = block->next;
      unmap_memory(mapping_of(block, size_class), size);
      released += size;
    }
  }
  reserved_ -= released;
  idle_ = 0;
  return released;
}

// Unmaps slabs whose blocks are all free. Allocation keeps no count per slab, so this counts the free list.
size_t CpuDevice::unmap_free_slabs() {
  const auto slab_of = [](void* block) {
    return reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(block) & ~(kSlab - 1));
  };
  const Lock lock(locked_);
  size_t released = 0;
  for (int size_class = 0; size_class <= class_of(kLargestInSlab); ++size_class) {
    const size_t blocks = kSlab / class_size(size_class);
    std::unordered_map<char*, size_t> free_blocks;
    for (FreeBlock* block = free_[size_class]; block; block = block->next) ++free_blocks[slab_of(block)];
    for (FreeBlock** link = &free_[size_class]; *link;) {
      if (free_blocks[slab_of(*link)] == blocks)
        *link = (*link)->next;
      else
        link = &(*link)->next;
    }
    std::erase_if(slabs_[size_class], [&](char* slab) {
      const auto found = free_blocks.find(slab);
      if (found == free_blocks.end() || found->second != blocks) return false;
      unmap_memory(slab, kSlab);
      released += kSlab;
      return true;
    });
  }
  reserved_ -= released;
  return released;
}

std::unique_ptr<Device> make_cpu_device() { return std::make_unique<CpuDevice>(); }

}  // namespace lunagrad

// The CPU's caching allocator: alignment, reuse, statistics, refusals, threads; and the list of devices.
#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "runtime/core/device.h"
#include "runtime/core/error.h"
#include "tests/support/sanitizers.h"
#include "tests/support/timing.h"

TEST_SUITE_BEGIN("threads");

using namespace lunagrad;

TEST_CASE("blocks are aligned to 64 bytes and hold what was asked for") {
  Device& cpu = cpu_device();
  for (size_t bytes :
       {1, 63, 64, 65, 255, 257, 1000, 4096, 4097, 131072, 131073, 1 << 20, (2 << 20) + 1, 9 << 20}) {
    std::vector<void*> blocks;
    for (int i = 0; i < 5; ++i) {
      void* block = cpu.alloc(bytes);
      REQUIRE(reinterpret_cast<uintptr_t>(block) % 64 == 0);
      std::memset(block, i + 1, bytes);
      blocks.push_back(block);
    }
    for (int i = 0; i < 5; ++i) {
      const auto* block = static_cast<const unsigned char*>(blocks[size_t(i)]);
      REQUIRE(block[0] == i + 1);
      REQUIRE(block[bytes / 2] == i + 1);
      REQUIRE(block[bytes - 1] == i + 1);
      cpu.free(blocks[size_t(i)], bytes);
    }
  }
}

TEST_CASE("zero bytes are a null block that can be freed") {
  CHECK(cpu_device().alloc(0) == nullptr);
  cpu_device().free(nullptr, 0);
}

TEST_CASE("statistics follow the blocks, and unused blocks go back to the system") {
  Device& cpu = cpu_device();
  cpu.release_unused();
  const DeviceMemory before = cpu.memory();
  void* small = cpu.alloc(100);
  void* large = cpu.alloc(64 << 20);
  const DeviceMemory during = cpu.memory();
  CHECK(during.in_use >= before.in_use + 100 + (64 << 20));
  CHECK(during.reserved >= during.in_use);
  CHECK(during.peak >= during.in_use);
  CHECK(during.total > 0);
  cpu.free(small, 100);
  cpu.free(large, 64 << 20);
  CHECK(cpu.memory().in_use == before.in_use);
  CHECK(cpu.memory().peak >= during.in_use);
  cpu.release_unused();
  CHECK(cpu.memory().reserved <= before.reserved);
}

TEST_CASE("a steady loop asks the system for nothing" * doctest::skip(tests::kAddressSanitizer)) {
  Device& cpu = cpu_device();
  const auto step = [&] {
    std::vector<std::pair<void*, size_t>> blocks;
    for (size_t bytes : {40, 5000, 70000, 300000, 3 << 20, 20 << 20, 5000, 3 << 20})
      blocks.emplace_back(cpu.alloc(bytes), bytes);
    for (auto [block, bytes] : blocks) cpu.free(block, bytes);
  };
  step();
  const size_t reserved = cpu.memory().reserved;
  for (int i = 0; i < 1000; ++i) step();
  CHECK(cpu.memory().reserved == reserved);
}

TEST_CASE("a block of whole huge pages takes one small page more" * doctest::skip(tests::kAddressSanitizer)) {
  Device& cpu = cpu_device();
  cpu.release_unused();
  for (const size_t bytes : {2 << 20, 4 << 20, 10 << 20, 64 << 20}) {
    const size_t before = cpu.memory().reserved;
    void* const block = cpu.alloc(bytes);
    CHECK(cpu.memory().reserved - before == bytes + 4096);
    cpu.free(block, bytes);
    cpu.release_unused();
  }
}

TEST_CASE("sizes that keep changing do not pile up" * doctest::skip(tests::kAddressSanitizer)) {
  Device& cpu = cpu_device();
  cpu.release_unused();
  for (size_t mib = 16; mib < 3000; mib += mib / 8) cpu.free(cpu.alloc(mib << 20), mib << 20);
  const DeviceMemory now = cpu.memory();
  CHECK(now.reserved - now.in_use < (size_t(8) << 30));
  cpu.release_unused();
}

TEST_CASE("a block larger than the machine's memory is refused at once, with its size") {
  const double start = tests::process_seconds();
  const auto refuse = [](size_t bytes) {
    try {
      cpu_device().free(cpu_device().alloc(bytes), bytes);
      return std::string("it was given out");
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::memory);
      return std::string(error.what());
    }
  };
  const std::string message = refuse(size_t(4) << 40);
  CHECK(message.find("cpu: out of memory: a block of 4.0 TiB does not fit") == 0);
  CHECK(refuse(SIZE_MAX / 2).find("cpu: out of memory") == 0);
  CHECK(tests::process_seconds() - start < 0.5);  // no memory was touched
  void* block = cpu_device().alloc(1000);         // and still works
  CHECK(block != nullptr);
  cpu_device().free(block, 1000);
}

TEST_CASE("memory that is reserved piece by piece is refused before the machine runs out, even untouched") {
  Device& cpu = cpu_device();
  const size_t piece = size_t(256) << 20;
  std::vector<void*> blocks;
  bool refused = false;
  try {
    while (blocks.size() * piece < 2 * cpu.memory().total) blocks.push_back(cpu.alloc(piece));
  } catch (const Error& error) {
    refused = error.kind() == ErrorKind::memory;
  }
  CHECK(refused);
  CHECK(blocks.size() * piece < cpu.memory().total);
  for (void* block : blocks) cpu.free(block, piece);
  cpu.release_unused();
}

TEST_CASE("threads may allocate and free each other's blocks") {
  Device& cpu = cpu_device();
  const size_t before = cpu.memory().in_use;
  std::vector<std::thread> threads;
  std::vector<std::vector<void*>> left(4);
  for (size_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 2000; ++i) {
        void* block = cpu.alloc(size_t(200 + i % 7));
        std::memset(block, int(t), 200);
        if (i % 3)
          cpu.free(block, size_t(200 + i % 7));
        else
          left[t].push_back(block);
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (size_t t = 0; t < 4; ++t)
    for (void* block : left[t]) {
      REQUIRE(static_cast<unsigned char*>(block)[199] == t);
      cpu.free(block, 200);
    }
  CHECK(cpu.memory().in_use == before);
}

TEST_CASE("the CPU is the first device, and an unknown one is an error that lists what there is") {
  CHECK(cpu_device().name() == "cpu");
  CHECK(cpu_device().description().find("OpenBLAS") != std::string::npos);
  CHECK(&require_device("cpu") == &cpu_device());
  REQUIRE(!devices().empty());
  CHECK(devices().front().get() == &cpu_device());
  CHECK(find_device("tpu") == nullptr);
  try {
    require_device("tpu");
    FAIL("a device was found");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::device);
    CHECK(std::string(error.what()).find("there is no device \"tpu\" (there are: \"cpu\"") == 0);
  }
}

TEST_SUITE_END();

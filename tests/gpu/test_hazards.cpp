// Dispatches access exactly the memory that they declare, there is a barrier between works with a hazard, and
// no needless barrier.
#include <cstdlib>
#include <cstring>

#include "gpu/device/device.h"
#include "tests/gpu/compare.h"
#include "tests/gpu/hazards.h"
#include "tests/gpu/run_sample.h"
#include "tests/support/recorder.h"

namespace lunagrad::tests {
namespace {

gpu::VulkanDevice::Machine& machine() { return dynamic_cast<gpu::VulkanDevice&>(gpu()).machine(); }

// Listens to a stream while the object lives.
class Listening {
 public:
  explicit Listening(gpu::StreamListener& listener) { machine().stream.listen(&listener); }
  ~Listening() { machine().stream.listen(nullptr); }
  Listening(const Listening&) = delete;
};

std::vector<LoggedWork> log_of_example(const char* file, std::map<std::string, std::string> set) {
  // Memory that earlier tests fragmented would be ordered more strictly than necessary.
  gpu().release_unused();
  HazardLog log;
  const Listening listening(log);
  Recorder recorder;
  RunOptions options;
  options.device = "vulkan";
  options.write_run = false;
  options.steps = 2;
  options.set = std::move(set);
  options.arguments = {source_file("README.md")};
  recorder.session.run_file(source_file(std::string("examples/") + file), options);
  CHECK_MESSAGE(recorder.session.wait() == Outcome::ok, file << ": " << recorder.error());
  return std::move(log.log);
}

TEST_CASE("training steps have exactly the barriers that they need") {
  const std::map<std::string, std::string> small = {{"width", "16"},  {"length", "8"}, {"batch_size", "2"},
                                                    {"written", "0"}, {"layers", "1"}, {"hidden", "16"}};
  for (const auto& [file, names] :
       {std::pair("04_digits_mlp.lua", std::vector<const char*>{"hidden"}),
        std::pair("06_char_lm.lua", std::vector<const char*>{"width", "length", "batch_size", "written"}),
        std::pair("07_transformer.lua",
                  std::vector<const char*>{"width", "length", "batch_size", "written", "layers"})}) {
    std::map<std::string, std::string> set;
    for (const char* name : names) set[name] = small.at(name);
    const std::vector<LoggedWork> log = log_of_example(file, set);
    CHECK_MESSAGE(count_hazards(log) == 0, file);
    size_t barriers = 0, idle = 0;
    for (size_t i = 0; i < log.size(); ++i)
      if (log[i].barrier) {
        ++barriers;
        idle += count_hazards(log, i) == 0;
      }
    CHECK_MESSAGE(barriers > 20, file);
    CHECK_MESSAGE(idle == 0, file << ": of " << barriers << " barriers among " << log.size() << " works");
  }
}

// Runs each dispatch twice: unchanged, to check that it only changes memory that it declared to write; and
// with all memory that it did not declare filled with NaN, to check that it gives the same result.
class Prover final : public gpu::StreamListener {
 public:
  Prover() {
    auto& m = machine();
    VkPhysicalDeviceMemoryProperties types;
    vkGetPhysicalDeviceMemoryProperties(m.context.physical.handle, &types);
    const uint32_t type = m.context.memory_type(~0u, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0);
    visible_ = types.memoryTypes[type].propertyFlags & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  }
  ~Prover() override {
    for (const auto& [block, bytes] : mapped_)
      machine().context.vk.vkUnmapMemory(machine().context.device, block->memory);
  }
  // Whether the host can map the device's memory. Otherwise nothing can be checked.
  bool possible() const { return visible_; }

  void barrier() override {}
  void work(std::span<gpu::Range* const> reads, std::span<gpu::Range* const> writes,
            const std::function<void()>& record) override {
    const bool copy =
        reads.empty() || writes.empty();  // copies to or from the host; a fill has no reads either
    gpu::Stream& stream = machine().stream;
    stream.wait();
    const std::vector<Part> parts = parts_of_memory(reads, writes);
    record();
    if (copy) return;
    stream.wait();
    std::vector<std::vector<std::byte>> results;
    for (const Part& part : parts) {
      wrong_writes += !part.written && std::memcmp(part.bytes, part.before.data(), part.before.size()) != 0;
      results.emplace_back(part.bytes, part.bytes + part.before.size());
    }
    for (const Part& part : parts) {
      if (part.read || part.written)
        std::memcpy(part.bytes, part.before.data(), part.before.size());
      else
        std::memset(part.bytes, 0xff, part.before.size());
    }
    record();
    stream.wait();
    for (size_t i = 0; i < parts.size(); ++i) {
      wrong_reads +=
          parts[i].written && std::memcmp(parts[i].bytes, results[i].data(), results[i].size()) != 0;
      std::memcpy(parts[i].bytes, results[i].data(), results[i].size());
    }
    ++proved;
  }
  int proved = 0, wrong_reads = 0, wrong_writes = 0;

 private:
  struct Part {
    std::byte* bytes;
    bool read, written;
    std::vector<std::byte> before;
  };
  std::vector<Part> parts_of_memory(std::span<gpu::Range* const> reads, std::span<gpu::Range* const> writes) {
    std::vector<Part> parts;
    machine().memory.each_in_use([&](gpu::Range& range) {
      std::byte* const bytes = base(*range.block) + range.offset;
      const auto has = [&](std::span<gpu::Range* const> list) {
        return std::find(list.begin(), list.end(), &range) != list.end();
      };
      parts.push_back({bytes, has(reads), has(writes), std::vector<std::byte>(bytes, bytes + range.size)});
    });
    return parts;
  }
  std::byte* base(const gpu::Block& block) {
    std::byte*& bytes = mapped_[&block];
    if (!bytes) {
      void* pointer = nullptr;
      auto& context = machine().context;
      gpu::check(context.vk.vkMapMemory(context.device, block.memory, 0, VK_WHOLE_SIZE, 0, &pointer),
                 "looking at memory");
      bytes = static_cast<std::byte*>(pointer);
    }
    return bytes;
  }

  bool visible_;
  std::map<const gpu::Block*, std::byte*> mapped_;
};

TEST_CASE("dispatches access only the memory that they declare, in all op samples and their gradients") {
  gpu().release_unused();
  Prover prover;
  if (!prover.possible()) {
    MESSAGE("the host does not see this device's memory");
    return;
  }
  const Listening listening(prover);
  // All samples, or one of eight.
  const size_t apart = std::getenv("LUNAGRAD_TEST_ALL") ? 1 : 8;
  const std::vector<Sample> all = samples();
  for (size_t at = 0; at < all.size(); at += apart) {
    const Sample& sample = all[at];
    const Op& op = *find_op(sample.op);
    const TensorList inputs = sample_inputs(sample);
    if (inputs.empty() || asks_for_c128(op, sample)) continue;
    TensorList there;
    for (const Tensor& x : inputs)
      there.push_back(arrange(x, sample.contiguous ? Arrangement::contiguous : Arrangement::sliced));
    const int proved = prover.proved;
    prover.wrong_reads = prover.wrong_writes = 0;
    run_sample(op, sample, there);
    CHECK_MESSAGE(prover.wrong_reads == 0, sample.op << " reads what it does not declare, in one of "
                                                     << prover.proved - proved << " dispatches");
    CHECK_MESSAGE(prover.wrong_writes == 0, sample.op << " writes what it does not declare");
  }
  CHECK(prover.proved > int(2000 / apart));
}

}  // namespace
}  // namespace lunagrad::tests

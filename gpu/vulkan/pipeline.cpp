#include "gpu/vulkan/pipeline.h"

#include <algorithm>
#include <map>

#include "gpu/vulkan/pipeline_list.h"
#include "runtime/core/error.h"
#include "runtime/core/trace.h"

namespace lunagrad::gpu {
namespace {

PipelineList load(const DeviceFile& file) {
  const std::vector<std::byte> bytes = file.load();
  return pipeline_list({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

std::vector<PipelineKey> keys_of(const PipelineList& list) {
  std::vector<PipelineKey> keys;
  for (const UsedPipeline& used : list) keys.push_back(used.key);
  return keys;
}

// Uses half of the CPU's threads, since the script continues meanwhile.
int thread_count() { return std::clamp(int(std::thread::hardware_concurrency()) / 2, 1, 8); }

}  // namespace

std::string kernel_name(const ShaderCode& code, Constants constants) {
  if (code.variant) return text(code.name, ' ', code.variant(code, constants));
  std::string name(code.name);
  for (size_t i = 0; i < constants.size(); ++i) name += text(i == 0 ? " (" : ", ", constants[i]);
  return constants.empty() ? name : name + ")";
}

VkPipeline Pipeline::handle() {
  if (!handle_) handle_ = background_.take(job_);
  return handle_;
}

Pipelines::Pipelines(VulkanContext& context)
    : maker_(context),
      file_(maker_.file("pipelines-used")),
      background_(keys_of(load(file_)), thread_count(),
                  [this](const PipelineKey& key) { return maker_.make(key.code, key.constants); }) {}

Pipelines::~Pipelines() {
  come_to_rest();
  for (const auto& [key, pipeline] : used_) pipeline.destroy(maker_);
  if (order_.empty()) return;
  // Load the list again: another process may have written it meanwhile.
  const PipelineList before = load(file_);
  const PipelineList after = after_run(before, order_);
  const std::string text = to_text(after);
  if (after != before) file_.save(std::as_bytes(std::span(text)));
}

void Pipelines::come_to_rest() noexcept {
  for (const VkPipeline pipeline : background_.stop()) maker_.destroy(pipeline);
}

size_t Pipelines::Hash::operator()(const Wanted& wanted) const {
  size_t hash = reinterpret_cast<size_t>(wanted.code.stored.data()) + wanted.code.bfloat;
  for (const uint32_t value : wanted.constants) hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 29;
}

bool Pipelines::Equal::operator()(const Wanted& a, const PipelineKey& b) const {
  return a.code.is(b.code) &&
         std::equal(a.constants.begin(), a.constants.end(), b.constants.begin(), b.constants.end());
}

Pipeline& Pipelines::get(const ShaderCode& code, Constants constants) {
  const auto found = used_.find(Wanted{code, constants});
  if (found != used_.end()) return found->second;
  const PipelineKey key{code, {constants.begin(), constants.end()}};
  BackgroundPipelines::Job& job = background_.ask(key);
  if (background_.made(job)) ++made_before_use_;
  order_.push_back(key);
  return used_.try_emplace(key, background_, job, intern(kernel_name(code, constants))).first->second;
}

std::vector<KernelUse> Pipelines::kernels() const {
  std::map<std::string, uint64_t> dispatches;  // variants with the same name count together
  for (const auto& [key, pipeline] : used_)
    if (pipeline.dispatches > 0) dispatches[interned(pipeline.name)] += pipeline.dispatches;
  std::vector<KernelUse> kernels;
  for (const auto& [name, count] : dispatches) kernels.push_back({name, count});
  return kernels;
}

}  // namespace lunagrad::gpu

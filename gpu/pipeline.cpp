#include "gpu/pipeline.h"

#include <map>

#include "gpu/pipeline_list.h"
#include "runtime/error.h"
#include "runtime/trace.h"

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

}  // namespace

std::string kernel_name(const ShaderCode& code, Constants constants) {
  if (code.variant) return text(code.name, ' ', code.variant(code, constants));
  std::string name(code.name);
  for (size_t i = 0; i < constants.size(); ++i) name += text(i == 0 ? " (" : ", ", constants[i]);
  return constants.empty() ? name : name + ")";
}

Pipelines::Pipelines(VulkanContext& context)
    : maker_(context),
      file_(maker_.file("pipelines-used")),
      early_(keys_of(load(file_)),
             [this](const PipelineKey& key) { return maker_.make(key.code, key.constants); }) {}

Pipelines::~Pipelines() {
  come_to_rest();
  for (const auto& [key, pipeline] : made_) maker_.destroy(pipeline.handle);
  if (used_.empty()) return;
  // Another process may have written it meanwhile.
  const PipelineList before = load(file_);
  const std::string text = to_text(behind_run(before, used_));
  if (text != to_text(before)) file_.save(std::as_bytes(std::span(text)));
}

void Pipelines::come_to_rest() noexcept {
  for (const VkPipeline pipeline : early_.stop()) maker_.destroy(pipeline);
}

size_t Pipelines::Hash::operator()(const PipelineKey& key) const {
  size_t hash = reinterpret_cast<size_t>(key.code.words.data()) + key.code.bfloat;
  for (const uint32_t value : key.constants) hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 29;
}

Pipeline& Pipelines::get(const ShaderCode& code, Constants constants) {
  PipelineKey key{code, {constants.begin(), constants.end()}};
  const auto found = made_.find(key);
  if (found != made_.end()) return found->second;
  VkPipeline pipeline = early_.take(key);
  if (pipeline)
    ++made_early_;
  else
    pipeline = maker_.make(code, constants);
  used_.push_back(key);
  Pipeline made{pipeline, intern(kernel_name(code, constants))};
  return made_.emplace(std::move(key), made).first->second;
}

std::vector<KernelUse> Pipelines::kernels() const {
  std::map<std::string, uint64_t> dispatches;  // variants that no name tells apart count together
  for (const auto& [key, pipeline] : made_)
    if (pipeline.dispatches > 0) dispatches[interned(pipeline.name)] += pipeline.dispatches;
  std::vector<KernelUse> used;
  for (const auto& [name, count] : dispatches) used.push_back({name, count});
  return used;
}

}  // namespace lunagrad::gpu

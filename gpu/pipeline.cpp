#include "gpu/pipeline.h"

#include "gpu/pipeline_list.h"

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

Pipelines::Pipelines(VulkanContext& context)
    : maker_(context),
      file_(maker_.file("pipelines-used")),
      early_(keys_of(load(file_)),
             [this](const PipelineKey& key) { return maker_.make(key.code, key.constants); }) {}

Pipelines::~Pipelines() {
  come_to_rest();
  for (const auto& [key, pipeline] : made_) maker_.destroy(pipeline);
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

VkPipeline Pipelines::get(const ShaderCode& code, Constants constants) {
  PipelineKey key{code, {constants.begin(), constants.end()}};
  const auto found = made_.find(key);
  if (found != made_.end()) return found->second;
  VkPipeline pipeline = early_.take(key);
  if (pipeline)
    ++made_early_;
  else
    pipeline = maker_.make(code, constants);
  used_.push_back(key);
  made_.emplace(std::move(key), pipeline);
  return pipeline;
}

}  // namespace lunagrad::gpu

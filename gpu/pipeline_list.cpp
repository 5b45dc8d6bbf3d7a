#include "gpu/pipeline_list.h"

#include <algorithm>
#include <sstream>

namespace lunagrad::gpu {
namespace {

constexpr size_t kMostPipelines = 512;
constexpr size_t kMostConstants = 32;
constexpr uint32_t kMostRuns = 8;

// FNV-1a over words.
uint64_t checksum(std::span<const uint32_t> words) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const uint32_t word : words) hash = (hash ^ word) * 0x100000001b3u;
  return hash;
}

}  // namespace

std::string to_text(const PipelineList& list) {
  std::ostringstream out;
  for (const auto& [key, runs] : list) {
    out << key.code.name << ' ' << std::hex << checksum(key.code.words) << std::dec << ' ' << key.code.bfloat
        << ' ' << runs;
    for (const uint32_t value : key.constants) out << ' ' << value;
    out << '\n';
  }
  return out.str();
}

PipelineList pipeline_list(std::string_view text) {
  PipelineList list;
  std::istringstream lines{std::string(text)};
  std::string line, name;
  while (list.size() < kMostPipelines && std::getline(lines, line)) {
    std::istringstream in(line);
    uint64_t sum = 0;
    UsedPipeline used;
    in >> name >> std::hex >> sum >> std::dec >> used.key.code.bfloat >> used.runs;
    const ShaderCode* const code = in ? embedded_shader(name) : nullptr;
    if (!code || checksum(code->words) != sum) continue;
    used.key.code = {code->name, code->words, used.key.code.bfloat};
    for (uint32_t value = 0; in >> value;) used.key.constants.push_back(value);
    if (in.eof() && used.key.constants.size() <= kMostConstants) list.push_back(std::move(used));
  }
  return list;
}

PipelineList behind_run(const PipelineList& before, const std::vector<PipelineKey>& used) {
  PipelineList list;
  for (const PipelineKey& key : used) {
    // Those of a script's own are compiled at run time.
    const ShaderCode* const code = embedded_shader(key.code.name);
    if (code && code->words.data() == key.code.words.data() && key.constants.size() <= kMostConstants)
      list.push_back({key, 0});
  }
  for (const auto& [key, runs] : before) {
    const bool again = std::find(used.begin(), used.end(), key) != used.end();
    if (!again && runs + 1 < kMostRuns) list.push_back({key, runs + 1});
  }
  if (list.size() > kMostPipelines) list.resize(kMostPipelines);
  return list;
}

}  // namespace lunagrad::gpu

#include "gpu/vulkan/pipeline_list.h"

#include <algorithm>
#include <sstream>
#include <unordered_map>

namespace lunagrad::gpu {
namespace {

constexpr size_t kMostPipelines = 512;
constexpr uint32_t kMostRuns = 8;

// FNV-1a over the stored bytes of a module. Checksums are kept, since many lines are variants of one shader.
class Checksums {
 public:
  uint64_t of(const ShaderCode& code) {
    const auto [entry, first] = sums_.try_emplace(code.stored.data(), 0xcbf29ce484222325u);
    if (first)
      for (const char byte : code.stored) entry->second = (entry->second ^ uint8_t(byte)) * 0x100000001b3u;
    return entry->second;
  }

 private:
  std::unordered_map<const char*, uint64_t> sums_;
};

}  // namespace

std::string to_text(const PipelineList& list) {
  Checksums sums;
  std::ostringstream out;
  out.imbue(std::locale::classic());  // whatever std::locale::global() is
  for (const auto& [key, runs] : list) {
    out << key.code.name << ' ' << std::hex << sums.of(key.code) << std::dec << ' ' << key.code.bfloat << ' '
        << runs;
    for (const uint32_t value : key.constants) out << ' ' << value;
    out << '\n';
  }
  return out.str();
}

PipelineList pipeline_list(std::string_view text) {
  PipelineList list;
  Checksums sums;
  std::istringstream lines{std::string(text)};
  std::string line, name;
  while (list.size() < kMostPipelines && std::getline(lines, line)) {
    std::istringstream in(line);
    in.imbue(std::locale::classic());
    uint64_t sum = 0;
    UsedPipeline used;
    in >> name >> std::hex >> sum >> std::dec >> used.key.code.bfloat >> used.runs;
    const ShaderCode* const code = in ? embedded_shader(name) : nullptr;
    if (!code || sums.of(*code) != sum) continue;
    const bool bfloat = used.key.code.bfloat;
    used.key.code = *code;
    used.key.code.bfloat = bfloat;
    for (uint32_t value = 0; in >> value;) used.key.constants.push_back(value);
    if (in.eof() && used.key.constants.size() <= code->ids.size()) list.push_back(std::move(used));
  }
  return list;
}

PipelineList after_run(const PipelineList& before, const std::vector<PipelineKey>& used) {
  PipelineList list;
  for (const PipelineKey& key : used) {
    // Kernels of scripts are left out: they are compiled at run time.
    const ShaderCode* const code = embedded_shader(key.code.name);
    if (code && code->stored.data() == key.code.stored.data()) list.push_back({key, 0});
  }
  for (const auto& [key, runs] : before) {
    const bool again = std::find(used.begin(), used.end(), key) != used.end();
    if (!again && runs + 1 < kMostRuns) list.push_back({key, runs + 1});
  }
  if (list.size() > kMostPipelines) list.resize(kMostPipelines);
  return list;
}

}  // namespace lunagrad::gpu

#pragma once
// Which pipelines the latest runs used, in the order in which they asked for them: a text, a line for each.
// Pure.
#include <string>
#include <string_view>
#include <vector>

#include "gpu/pipeline_maker.h"

namespace lunagrad::gpu {

struct UsedPipeline {
  PipelineKey key;
  uint32_t runs = 0;  // since it was used
  bool operator==(const UsedPipeline&) const = default;
};
using PipelineList = std::vector<UsedPipeline>;

// Shaders are named with a checksum of what they are: a line that fits no shader of this build is left out,
// as is one that cannot be read.
std::string to_text(const PipelineList&);
PipelineList pipeline_list(std::string_view text);

// The list behind another run: what that used comes first. What eight runs did not use, and what is too much,
// is dropped.
PipelineList behind_run(const PipelineList& before, const std::vector<PipelineKey>& used);

}  // namespace lunagrad::gpu

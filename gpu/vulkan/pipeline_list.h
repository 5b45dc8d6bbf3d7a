#pragma once
// The pipelines that the latest runs used, in order of first use, as text with one line for each. Pure.
#include <string>
#include <string_view>
#include <vector>

#include "gpu/vulkan/pipeline_maker.h"

namespace lunagrad::gpu {

struct UsedPipeline {
  PipelineKey key;
  uint32_t runs = 0;  // number of latest runs that did not use it
  bool operator==(const UsedPipeline&) const = default;
};
using PipelineList = std::vector<UsedPipeline>;

// A line has the name of the shader and a checksum of its SPIR-V. Lines that match no shader of this build,
// or that are damaged, are skipped.
std::string to_text(const PipelineList&);
PipelineList pipeline_list(std::string_view text);

// The list after another run: pipelines of that run come first. Drops pipelines that eight runs in a row did
// not use, and what exceeds 512 lines.
PipelineList after_run(const PipelineList& before, const std::vector<PipelineKey>& used);

}  // namespace lunagrad::gpu

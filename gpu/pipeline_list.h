#pragma once
// The pipelines that the latest runs used, in order of first use, as a text with a line for each. Pure.
#include <string>
#include <string_view>
#include <vector>

#include "gpu/pipeline_maker.h"

namespace lunagrad::gpu {

struct UsedPipeline {
  PipelineKey key;
  uint32_t runs = 0;  // that did not use it, since the last that did
  bool operator==(const UsedPipeline&) const = default;
};
using PipelineList = std::vector<UsedPipeline>;

// A line has the name of the shader and a checksum of its SPIR-V. Lines that match no shader of this build,
// or that are damaged, are skipped.
std::string to_text(const PipelineList&);
PipelineList pipeline_list(std::string_view text);

// The list after another run: what that run used comes first. Drops what eight runs in a row did not use, and
// what exceeds 512 lines.
PipelineList after_run(const PipelineList& before, const std::vector<PipelineKey>& used);

}  // namespace lunagrad::gpu

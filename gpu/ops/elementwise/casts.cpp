#include "gpu/ops/elementwise/casts.h"

#include <algorithm>
#include <vector>

#include "gpu/ops/iteration.h"

namespace lunagrad::gpu {
namespace {

struct Entry {
  uint64_t result, operand;
  uint32_t count;
  uint32_t first_block;
};
struct CastsPushConstants {
  uint32_t tensors, blocks;
};
constexpr uint32_t kBlock = 1024;
constexpr size_t kMostTensors = 4096;  // per dispatch

bool are_linked(const CallGroup& group) {
  return std::any_of(group.members.begin(), group.members.end(), [](const CallGroup::Member& member) {
    return std::any_of(member.from.begin(), member.from.end(), [](int from) { return from >= 0; });
  });
}

void launch_casts(std::span<const CallGroup::Member> members, Recorder& recorder) {
  const Call& first = *members.front().call;
  const DType type = first.input(0).dtype(), result_type = first.output().dtype();
  Launch launch(recorder);
  std::vector<Entry> entries;
  entries.reserve(members.size());
  CastsPushConstants push{uint32_t(members.size()), 0};
  bool in_fours = true;
  for (const CallGroup::Member& member : members) {
    const Tensor &x = member.call->input(0), &y = member.call->output();
    const Entry entry{launch.writes(y), launch.reads(x), uint32_t(y.numel()), push.blocks};
    in_fours = in_fours && entry.count % 4 == 0 && moves_in_fours(result_type, entry.result) &&
               moves_in_fours(type, entry.operand);
    push.blocks += (entry.count + kBlock - 1) / kBlock;
    entries.push_back(entry);
  }
  launch.run(
      shaders::Casts{.result_type = uint32_t(result_type), .type = uint32_t(type), .in_fours = in_fours},
      {group_count(push.blocks, recorder)}, std::as_bytes(std::span(entries)), bytes_of(push));
}

}  // namespace

bool run_casts(const CallGroup& group, Recorder& recorder) {
  if (are_linked(group)) return false;
  for (std::span<const CallGroup::Member> rest(group.members); !rest.empty();) {
    const size_t count = std::min(rest.size(), kMostTensors);
    launch_casts(rest.first(count), recorder);
    rest = rest.subspan(count);
  }
  return true;
}

}  // namespace lunagrad::gpu

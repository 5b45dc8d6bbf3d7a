#pragma once
// Chooses the tiles of the attention kernels (gpu/ops/nn/attention.glsl) by the limits of the device. Pure.
#include "gpu/ops/kernels.h"

namespace lunagrad::gpu {

// A workgroup keeps `own` rows (queries, or keys and values) and visits the other rows in tiles of `passing`
// rows. Rows have `features` elements: the heads' features, padded to 32, 64, 128 or 256.
struct AttentionTiles {
  uint32_t features, own, passing;
};
// The largest tiles that fit the shared memory of a workgroup, which holds `own_tiles` (1 or 2) tiles of own
// rows and as many of passing rows. Throws an Error of kind device if none fit.
AttentionTiles attention_tiles(int64_t most_features, uint32_t own_tiles, const PhysicalDevice&);

}  // namespace lunagrad::gpu

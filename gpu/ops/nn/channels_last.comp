#version 460
// Arranges an operand of a convolution for matrix units: channels last, with each group's channels padded
// with zeros to a multiple of eight. Elements are converted as in unit_operand.comp.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "unit_scale.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const bool SCALED = false;
layout(constant_id = 1) const uint TYPE = kF32;
layout(constant_id = 2) const uint PLACES = 64;       // places of a tile
layout(constant_id = 3) const bool ADJACENT = false;  // the positions of a channel are adjacent elements
// The elements have 16 bits, at most the last group is padded, and positions are adjacent and can be loaded
// four at a time.
layout(constant_id = 4) const bool IN_FOURS = false;

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint64_t from, to, largest;
  int64_t item_step[2], group_step, channel_step, place_step[3];
  uint items[2];  // the samples, or the rows of a weight
  uint groups, group_channels, padded_channels;
  uint size[3];
  uint channel_tiles, place_tiles, tiles;
};
layout(push_constant, scalar) uniform Push {
  Arguments arguments;
};

const uint kChannels = 64;                   // channels of a tile
shared uint tile[kChannels * (PLACES + 1)];  // bits; padded to avoid bank conflicts

int64_t offset_of_place(uint place) {
  if (ADJACENT) return int64_t(place);
  const uint z = place % arguments.size[2], y = place / arguments.size[2] % arguments.size[1];
  const uint x = place / arguments.size[2] / arguments.size[1];
  return x * arguments.place_step[0] + y * arguments.place_step[1] + z * arguments.place_step[2];
}

int64_t offset_of_item(uint item) {
  return int64_t(item / arguments.items[1]) * arguments.item_step[0] + int64_t(item % arguments.items[1]) * arguments.item_step[1];
}

// An invocation arranges four places of eight channels in registers. 32 invocations take up to eight times as
// many places and four times as many channels, so that loads and stores access adjacent elements.
void arrange_fours(uint channels, uint places) {
  const uint fours = places / 4, eights = channels / 8;
  const uint block_eights = eights < 4 ? 1 : 4, block_fours = 32 / block_eights;
  const uint across = (fours + block_fours - 1) / block_fours, down = (eights + block_eights - 1) / block_eights;
  const uint all = arguments.items[0] * arguments.items[1] * across * down * 32;
  for (uint i = gl_GlobalInvocationID.x; i < all; i += gl_NumWorkGroups.x * 256) {
    const uint block = i / 32, four = block % across * block_fours + i % block_fours;
    const uint eight = block / across % down * block_eights + i % 32 / block_fours;
    const uint item = block / across / down;
    if (four >= fours || eight >= eights) continue;
    const uint64_t from = arguments.from + (offset_of_item(item) + eight * 8 * arguments.channel_step) * 2;
    uvec2 rows[8];
    [[unroll]] for (uint c = 0; c < 8; ++c)
      rows[c] = eight * 8 + c < arguments.groups * arguments.group_channels
                    ? U32x2Elements(from + (c * arguments.channel_step + int64_t(four) * 4) * 2).at
                    : uvec2(0);
    [[unroll]] for (uint place = 0; place < 4; ++place) {
      uvec4 packed;
      [[unroll]] for (uint c = 0; c < 4; ++c) {
        const uint low = rows[2 * c][place / 2], high = rows[2 * c + 1][place / 2];
        packed[c] = place % 2 == 0 ? low & 0xffffu | high << 16 : low >> 16 | high & 0xffff0000u;
      }
      U32x4Elements(arguments.to + ((uint64_t(item) * places + four * 4 + place) * channels + eight * 8) * 2).at = packed;
    }
  }
}

void main() {
  const uint channels = arguments.groups * arguments.padded_channels;
  const uint places = arguments.size[0] * arguments.size[1] * arguments.size[2];
  if (IN_FOURS) {
    arrange_fours(channels, places);
    return;
  }
  const float scale = SCALED ? scale_for(arguments.largest) : 1.0;
  for (uint t = gl_WorkGroupID.x; t < arguments.tiles; t += gl_NumWorkGroups.x) {
    const uint first_place = t % arguments.place_tiles * PLACES;
    const uint first_channel = t / arguments.place_tiles % arguments.channel_tiles * kChannels;
    const uint item = t / arguments.place_tiles / arguments.channel_tiles;
    const int64_t start = offset_of_item(item);
    [[unroll]] for (uint i = gl_LocalInvocationID.x; i < kChannels * PLACES; i += 256) {
      const uint place = first_place + i % PLACES, channel = first_channel + i / PLACES;
      const uint group = channel / arguments.padded_channels, own = channel % arguments.padded_channels;
      uint bits = 0;
      if (place < places && channel < channels && own < arguments.group_channels) {
        const int64_t at =
            start + group * arguments.group_step + own * arguments.channel_step + offset_of_place(place);
        bits = TYPE == kF32 ? floatBitsToUint(load_f32(arguments.from, at)) : uint(U16Element(arguments.from + at * 2).at);
      }
      tile[i / PLACES * (PLACES + 1) + i % PLACES] = bits;
    }
    barrier();
    for (uint i = gl_LocalInvocationID.x; i < PLACES * (kChannels / 8); i += 256) {
      const uint place = i / (kChannels / 8), channel = i % (kChannels / 8) * 8;
      if (first_place + place >= places || first_channel + channel >= channels) continue;
      uvec4 packed = uvec4(0);
      [[unroll]] for (uint e = 0; e < 8; ++e) {
        const uint bits = tile[(channel + e) * (PLACES + 1) + place];
        const float x = uintBitsToFloat(bits);
        const uint narrow = TYPE != kF32 ? bits : SCALED ? float_to_half(x * scale) : float_to_bfloat(x);
        packed[e / 2] |= narrow << 16 * (e % 2);
      }
      U32x4Elements(arguments.to +
                    ((uint64_t(item) * places + first_place + place) * channels + first_channel + channel) * 2)
          .at = packed;
    }
    barrier();
  }
}

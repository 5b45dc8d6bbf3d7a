// Parts of all attention kernels: operands as rows of heads, scores, masks and dropout.
layout(local_size_x = 128) in;
layout(constant_id = 3) const bool CAUSAL = false;

layout(constant_id = 5) const uint MASK = 0;
layout(constant_id = 6) const bool DROPS = false;
layout(constant_id = 7) const bool CAPS = false;
const uint kNoMask = 0, kShows = 1, kAdds = 2;  // none; bool, true: not masked; f32, added to the score

const uint kThreads = 128;

struct Rows {
  uint64_t at;
  int64_t step;      // elements from one row to the next
  int64_t batch[6];  // elements from one item to the next, for each batch dim
};

struct Batch {
  uint dims;
  uint size[6];
};

int64_t offset_of(int64_t strides[6], Batch batch, uint head) {
  int64_t at = 0;
  for (int d = int(batch.dims) - 1; d >= 0; --d) {
    at += int64_t(head % batch.size[d]) * strides[d];
    head /= batch.size[d];
  }
  return at;
}
// The address of the first row of head `head`; elements have `size` bytes.
uint64_t head_of(Rows rows, Batch batch, uint head, uint size) {
  return rows.at + offset_of(rows.batch, batch, head) * size;
}

struct Scale {
  float factor, cap, over_cap;  // cap: the soft cap; over_cap: 1 / cap
};
// The score for a product of query and key, before the mask. `slope` is the score's derivative by the
// product.
float score_of(float product, Scale scale, out float slope) {
  const float score = product * scale.factor;
  slope = scale.factor;
  if (!CAPS) return score;
  const float t = lg_tanh(score * scale.over_cap);
  slope *= 1.0 - t * t;
  return scale.cap * t;
}

struct Mask {
  uint64_t at;
  int64_t query, key;  // elements from one query or key to the next
  int64_t batch[6];
};
// The masked score of a query and a key, which must be in range. `head` is the offset of the head in the mask.
float masked(float score, Mask mask, int64_t head, uint query, uint key) {
  const int64_t at = head + int64_t(query) * mask.query + int64_t(key) * mask.key;
  if (MASK == kShows) return uint(U8Element(mask.at + at).at) != 0 ? score : -infinity();
  return MASK == kAdds ? score + load_f32(mask.at, at) : score;
}

struct Draw {
  uvec2 seed, stream;
  uint threshold;  // a weight is dropped if its random word is less
  float kept;      // factor of the kept weights
};
// The dropout factors of a query's weights for four keys from `key` on, a multiple of 4. `row` is head * queries + query.
vec4 drop_factors(Draw draw, uint row, uint keys, uint key) {
  const uvec4 words = philox(draw.seed, draw.stream, row * ((keys + 3) / 4) + key / 4);
  return mix(vec4(draw.kept), vec4(0), lessThan(words, uvec4(draw.threshold)));
}

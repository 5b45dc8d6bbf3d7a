// Philox4x32-10 (Salmon, Moraes, Dror, Shaw, SC 2011): the random words of runtime/core/random.h, four at a time.
uvec4 philox(uvec2 seed, uvec2 stream, uvec2 counter) {
  uvec4 c = uvec4(counter.x, counter.y, stream.x, stream.y);
  uvec2 k = seed;
  [[unroll]] for (int i = 0; i < 10; ++i) {
    uint high_0, low_0, high_1, low_1;
    umulExtended(0xD2511F53u, c.x, high_0, low_0);
    umulExtended(0xCD9E8D57u, c.z, high_1, low_1);
    c = uvec4(high_1 ^ c.y ^ k.x, low_1, high_0 ^ c.w ^ k.y, low_0);
    k += uvec2(0x9E3779B9u, 0xBB67AE85u);
  }
  return c;
}
uvec4 philox(uvec2 seed, uvec2 stream, uint counter) {
  return philox(seed, stream, uvec2(counter, 0));
}

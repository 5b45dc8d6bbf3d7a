#include "runtime/io/sha256.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "runtime/core/context.h"
#include "runtime/io/input_file.h"

namespace lunagrad {
namespace {

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
constexpr uint32_t kRound[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

uint32_t word(const uint8_t* bytes) {
  return uint32_t(bytes[0]) << 24 | uint32_t(bytes[1]) << 16 | uint32_t(bytes[2]) << 8 | bytes[3];
}

}  // namespace

void Sha256::mix(const uint8_t* block) {
  uint32_t w[64];
  for (int t = 0; t < 16; ++t) w[t] = word(block + 4 * t);
  for (int t = 16; t < 64; ++t) {
    const uint32_t s0 = std::rotr(w[t - 15], 7) ^ std::rotr(w[t - 15], 18) ^ w[t - 15] >> 3;
    const uint32_t s1 = std::rotr(w[t - 2], 17) ^ std::rotr(w[t - 2], 19) ^ w[t - 2] >> 10;
    w[t] = w[t - 16] + s0 + w[t - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = state_;
  for (int t = 0; t < 64; ++t) {
    const uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + kRound[t] + w[t];
    const uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
  }
  const uint32_t sums[8] = {a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < 8; ++i) state_[i] += sums[i];
}

void Sha256::add(const void* bytes, size_t count) {
  const auto* at = static_cast<const uint8_t*>(bytes);
  count_ += count;
  while (count > 0) {
    if (filled_ == 0 && count >= block_.size()) {
      mix(at);
      at += block_.size();
      count -= block_.size();
      continue;
    }
    const size_t taken = std::min(count, block_.size() - filled_);
    std::memcpy(block_.data() + filled_, at, taken);
    at += taken;
    count -= taken;
    filled_ = (filled_ + taken) % block_.size();
    if (filled_ == 0) mix(block_.data());
  }
}

std::array<uint8_t, 32> Sha256::digest() {
  const uint64_t bits = 8 * count_;
  const uint8_t end = 0x80, zero = 0;
  add(&end, 1);
  while (filled_ != 56) add(&zero, 1);
  uint8_t length[8];
  for (int i = 0; i < 8; ++i) length[i] = uint8_t(bits >> (56 - 8 * i));
  add(length, sizeof length);
  std::array<uint8_t, 32> bytes{};
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = uint8_t(state_[i / 4] >> (24 - 8 * (i % 4)));
  return bytes;
}

std::string Sha256::finish() {
  std::string digits;
  for (const uint8_t byte : digest()) {
    digits += "0123456789abcdef"[byte >> 4];
    digits += "0123456789abcdef"[byte & 15];
  }
  return digits;
}

HmacSha256::HmacSha256(std::string_view key) {
  std::array<uint8_t, 64> block{};
  if (key.size() > block.size()) {
    Sha256 shortened;
    shortened.add(key);
    const std::array<uint8_t, 32> bytes = shortened.digest();
    std::copy(bytes.begin(), bytes.end(), block.begin());
  } else {
    std::copy(key.begin(), key.end(), block.begin());
  }
  const auto begin = [&block](Sha256& hash, uint8_t pad) {
    std::array<uint8_t, 64> padded = block;
    for (uint8_t& byte : padded) byte ^= pad;
    hash.add(padded.data(), padded.size());
  };
  begin(inner_, 0x36);
  begin(outer_, 0x5c);
}

std::string HmacSha256::mark(std::string_view text) const {
  Sha256 inner = inner_, outer = outer_;
  inner.add(text);
  const std::array<uint8_t, 32> bytes = inner.digest();
  outer.add(bytes.data(), bytes.size());
  return outer.finish();
}

std::string sha256_of(std::string_view text) {
  Sha256 hash;
  hash.add(text);
  return hash.finish();
}

std::string sha256_of_file(const std::string& path) {
  constexpr uint64_t kPiece = 1 << 20;
  const InputFile file(path);
  std::vector<char> piece(size_t(std::min(file.size(), kPiece)));
  Sha256 hash;
  for (uint64_t at = 0; at < file.size(); at += kPiece) {
    context().check_stop();
    const uint64_t count = std::min(kPiece, file.size() - at);
    file.read(piece.data(), at, count);
    hash.add(piece.data(), size_t(count));
  }
  return hash.finish();
}

}  // namespace lunagrad

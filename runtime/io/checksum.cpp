#include "runtime/io/checksum.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

#include "runtime/cpu/checksum_kernels.h"
#include "runtime/cpu/parallel.h"

namespace lunagrad {
namespace {

// The checksum of larger data is the hash of the sums of pieces of this size. The size is part of the file
// format.
constexpr uint64_t kChecksumPiece = uint64_t(1) << 17;

uint64_t sum_of_piece(const char* bytes, size_t count) {
  uint32_t state[kSumLanes];
  for (size_t i = 0; i < kSumLanes; ++i) state[i] = uint32_t(i);
  const size_t blocks = count / kSumBytes, rest = count % kSumBytes;
  mix_blocks(state, bytes, blocks);
  if (rest > 0) {
    char last[kSumBytes] = {};
    std::memcpy(last, bytes + blocks * kSumBytes, rest);
    mix_blocks(state, last, 1);
  }
  return hash_of(state, sizeof state, count);
}

// `sum(begin, count)` returns the sum of a piece; the pieces may come in any order.
template <class F>
uint64_t sum_of_pieces(uint64_t count, bool parallel, const F& sum) {
  const auto piece = [&](uint64_t i) {
    return sum(i * kChecksumPiece, std::min(kChecksumPiece, count - i * kChecksumPiece));
  };
  if (count <= kChecksumPiece) return piece(0);
  std::vector<uint64_t> sums((count + kChecksumPiece - 1) / kChecksumPiece);
  const int64_t pieces = int64_t(sums.size());
  parallel_for(pieces, parallel ? 1 : pieces, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) sums[size_t(i)] = piece(uint64_t(i));
  });
  return hash_of(sums.data(), sums.size() * sizeof sums[0], count);
}

}  // namespace

// Four independent sums, so that the multiplications of one do not wait for another's. Both halves of a
// product count, so that a changed bit reaches many bits of the sum.
uint64_t hash_of(const void* bytes, size_t count, uint64_t seed) {
  constexpr uint64_t kOdd = 0x9e3779b97f4a7c15;
  const auto mix = [](uint64_t sum, uint64_t word) {
    const auto product = static_cast<unsigned __int128>(sum ^ word) * kOdd;
    return (uint64_t(product) ^ uint64_t(product >> 64)) + kOdd;
  };
  uint64_t sums[4] = {seed ^ 1, seed ^ 2, seed ^ 3, seed ^ 4};
  const char* at = static_cast<const char*>(bytes);
  size_t left = count;
  for (uint64_t words[4]; left >= sizeof words; left -= sizeof words, at += sizeof words) {
    std::memcpy(words, at, sizeof words);
    for (int i = 0; i < 4; ++i) sums[i] = mix(sums[i], words[i]);
  }
  uint64_t result = mix(seed, count);
  for (const uint64_t sum : sums) result = mix(result, sum);
  for (; left > 0; left -= std::min<size_t>(left, 8), at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, at, std::min<size_t>(left, 8));
    result = mix(result, word);
  }
  result ^= result >> 32;
  return result * kOdd;
}

uint64_t checksum_of(const void* bytes, uint64_t count) {
  return sum_of_pieces(count, true, [bytes](uint64_t begin, uint64_t size) {
    return sum_of_piece(static_cast<const char*>(bytes) + begin, size_t(size));
  });
}

uint64_t read_with_checksum(const InputFile& file, void* to, uint64_t offset, uint64_t count) {
  return sum_of_pieces(count, true, [&](uint64_t begin, uint64_t size) {
    char* const piece = static_cast<char*>(to) + begin;
    if (size > 0) file.read(piece, offset + begin, size);
    return sum_of_piece(piece, size_t(size));
  });
}

uint64_t write_with_checksum(AtomicFile& file, const void* bytes, uint64_t count) {
  return sum_of_pieces(count, false, [&](uint64_t begin, uint64_t size) {
    const char* const piece = static_cast<const char*>(bytes) + begin;
    file.write(piece, size_t(size));
    return sum_of_piece(piece, size_t(size));
  });
}

std::string checksum_text(uint64_t checksum) {
  char digits[kChecksumDigits + 1];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(checksum));
  return digits;
}

}  // namespace lunagrad

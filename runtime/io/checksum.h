#pragma once
// Checksums of bytes, which find damage of files. They have 64 bits, so that damage goes unnoticed once in
// 2^64. They are the same on every machine of one byte order. They do not protect against someone who chooses
// the bytes. Any thread.
#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/io/atomic_file.h"
#include "runtime/io/input_file.h"

namespace lunagrad {

// For few bytes.
uint64_t hash_of(const void* bytes, size_t count, uint64_t seed = 0);

// For large data, in pieces that the thread pool shares.
uint64_t checksum_of(const void* bytes, uint64_t count);
// Reads a part of a file, or writes to the end of one, and returns the checksum of the bytes: each piece is
// summed while it is in the cache.
uint64_t read_with_checksum(const InputFile& file, void* to, uint64_t offset, uint64_t count);
uint64_t write_with_checksum(AtomicFile& file, const void* bytes, uint64_t count);

inline constexpr size_t kChecksumDigits = 16;
std::string checksum_text(uint64_t checksum);  // hexadecimal

}  // namespace lunagrad

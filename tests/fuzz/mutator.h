#pragma once
// Changes files as an attacker would: other lengths, counts and types, nested values, parts repeated, cut and
// taken from other files, besides flipped bits.
#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace lunagrad::tests {

class Mutator {
 public:
  // `words` of the format: each may replace another, and be inserted anywhere. `nests`: the texts that open
  // and close a nested value.
  Mutator(uint64_t seed, std::vector<std::string> words,
          std::vector<std::pair<std::string, std::string>> nests)
      : random_(seed), words_(std::move(words)), nests_(std::move(nests)) {}

  size_t below(size_t count) { return size_t(random_() % std::max<size_t>(count, 1)); }
  bool one_in(size_t count) { return below(count) == 0; }

  // `other`: another content of the same kind.
  std::string mutated(std::string bytes, const std::string& other) {
    for (size_t left = one_in(2) ? 1 : 1 + below(4); left > 0; --left) change(bytes, other);
    if (bytes.size() > kLargest) bytes.resize(kLargest);
    return bytes;
  }

 private:
  static constexpr size_t kLargest = size_t(1) << 18;

  // A piece of a text, often short.
  std::pair<size_t, size_t> piece(const std::string& bytes) {
    const size_t begin = below(bytes.size() + 1), most = bytes.size() - begin;
    return {begin, below(std::min<size_t>(most, one_in(4) ? most : 32) + 1)};
  }

  uint64_t number() {
    static constexpr uint64_t kNumbers[] = {0,
                                            1,
                                            2,
                                            7,
                                            8,
                                            9,
                                            127,
                                            128,
                                            255,
                                            256,
                                            65535,
                                            65536,
                                            0x7fffffff,
                                            0x80000000,
                                            0xffffffff,
                                            uint64_t(1) << 32,
                                            uint64_t(1) << 40,
                                            uint64_t(1) << 60,
                                            uint64_t(1) << 62,
                                            INT64_MAX,
                                            uint64_t(1) << 63,
                                            UINT64_MAX,
                                            UINT64_MAX - 7};
    return one_in(4) ? random_() >> below(64) : kNumbers[below(std::size(kNumbers))];
  }

  void change(std::string& bytes, const std::string& other) {
    switch (below(13)) {
      case 0:
        return flip(bytes);
      case 1:
        if (!bytes.empty()) bytes[below(bytes.size())] = char(one_in(2) ? random_() : number());
        return;
      case 2:
        return write_number(bytes);
      case 3:
        return write_digits(bytes);
      case 4:
        return bytes.resize(below(bytes.size() + 1));
      case 5: {
        const auto [begin, count] = piece(bytes);
        bytes.erase(begin, count);
        return;
      }
      case 6:
      case 7:
        return repeat(bytes);
      case 8: {
        const auto [begin, count] = piece(other);
        bytes.insert(below(bytes.size() + 1), other, begin, count);
        return;
      }
      case 9:
        bytes = bytes.substr(0, below(bytes.size() + 1)) + other.substr(below(other.size() + 1));
        return;
      case 10:
        return nest(bytes);
      case 11:
        return swap_words(bytes);
      default:
        if (!words_.empty()) bytes.insert(below(bytes.size() + 1), words_[below(words_.size())]);
    }
  }

  void flip(std::string& bytes) {
    if (bytes.empty()) return;
    for (size_t left = 1 + below(3); left > 0; --left) {
      char& byte = bytes[below(bytes.size())];
      byte = char(byte ^ (1 << below(8)));
    }
  }

  // Overwrites bytes with a binary number, in either byte order.
  void write_number(std::string& bytes) {
    const size_t size = size_t(1) << below(4);
    if (bytes.size() < size) return;
    const uint64_t value = number();
    std::string text;
    for (size_t i = 0; i < size; ++i) text += char(value >> (8 * i));
    if (one_in(2)) std::reverse(text.begin(), text.end());
    bytes.replace(below(bytes.size() - size + 1), size, text);
  }

  // Replaces a decimal number by another.
  void write_digits(std::string& bytes) {
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    const size_t from = below(bytes.size());
    const auto begin =
        std::find_if(bytes.begin() + std::ptrdiff_t(std::min(from, bytes.size())), bytes.end(), is_digit);
    const auto end = std::find_if_not(begin, bytes.end(), is_digit);
    static const std::string kOthers[] = {"-1",   "1e999", "1.5", "-0", "1e18", "99999999999999999999",
                                          "null", "\"1\"", "[]"};
    const std::string text = one_in(2) ? std::to_string(number()) : kOthers[below(std::size(kOthers))];
    if (begin != bytes.end()) bytes.replace(begin, end, text);
  }

  void repeat(std::string& bytes) {
    const auto [begin, count] = piece(bytes);
    const std::string part = bytes.substr(begin, count);
    const size_t most = part.empty() ? 0 : std::min<size_t>(kLargest / part.size(), one_in(3) ? 20000 : 8);
    std::string text;
    for (size_t left = below(most + 1); left > 0; --left) text += part;
    bytes.insert(begin, text);
  }

  void nest(std::string& bytes) {
    if (nests_.empty()) return;
    const auto& [open, close] = nests_[below(nests_.size())];
    const auto [begin, count] = piece(bytes);
    std::string before, behind;
    for (size_t left = below(one_in(3) ? 20000 : 200); left > 0 && before.size() < kLargest / 2; --left) {
      before += open;
      behind += close;
    }
    bytes.insert(begin + count, behind);
    bytes.insert(begin, before);
  }

  void swap_words(std::string& bytes) {
    if (words_.empty()) return;
    const std::string& from = words_[below(words_.size())];
    const size_t at = bytes.find(from, below(bytes.size() + 1));
    if (at != bytes.npos) bytes.replace(at, from.size(), words_[below(words_.size())]);
  }

  std::mt19937_64 random_;
  std::vector<std::string> words_;
  std::vector<std::pair<std::string, std::string>> nests_;
};

}  // namespace lunagrad::tests

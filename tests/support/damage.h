#pragma once
// Damages files as disks, cables and crashes do: flipped bits, cut ends, swapped parts, pages of zeros.
#include <algorithm>
#include <random>
#include <string>

namespace lunagrad::tests {

struct Damaged {
  std::string what, content;
};

// Another content than `good`, which is not empty.
inline Damaged damaged(const std::string& good, std::mt19937_64& random) {
  const auto below = [&](size_t count) { return size_t(random() % std::max<size_t>(count, 1)); };
  for (;;) {
    Damaged made{"", good};
    std::string& bytes = made.content;
    const size_t at = below(good.size()), page = std::min(size_t(1) << (4 + below(9)), good.size());
    switch (below(8)) {
      case 0:
      case 1:
        made.what = "bit " + std::to_string(at * 8);
        bytes[at] = char(bytes[at] ^ (1 << below(8)));
        break;
      case 2:
        made.what = "three bits";
        for (int i = 0; i < 3; ++i) {
          const size_t place = below(good.size());
          bytes[place] = char(bytes[place] ^ (1 << below(8)));
        }
        break;
      case 3:
        made.what = "cut to " + std::to_string(at);
        bytes.resize(at);
        break;
      case 4:
        made.what = "swapped halves";
        std::rotate(bytes.begin(), bytes.begin() + std::ptrdiff_t(bytes.size() / 2), bytes.end());
        break;
      case 5: {
        const size_t begin = below(good.size() - page + 1);
        made.what = std::to_string(page) + " zeros from " + std::to_string(begin);
        std::fill_n(bytes.begin() + std::ptrdiff_t(begin), page, '\0');
        break;
      }
      case 6: {
        const size_t from = below(good.size() - page + 1), to = below(good.size() - page + 1);
        made.what = std::to_string(page) + " bytes of " + std::to_string(from) + " at " + std::to_string(to);
        std::copy_n(good.begin() + std::ptrdiff_t(from), page, bytes.begin() + std::ptrdiff_t(to));
        break;
      }
      default:
        made.what = "without " + std::to_string(page) + " bytes from " + std::to_string(at);
        bytes.erase(at, page);
    }
    if (bytes != good) return made;
  }
}

}  // namespace lunagrad::tests

#include "ui/base/fuzzy.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

namespace lunagrad {
namespace {

constexpr int kNone = -1000000;

char lower(char c) { return char(std::tolower(static_cast<unsigned char>(c))); }

bool begins_word(std::string_view name, size_t i) {
  if (i == 0) return true;
  const auto before = static_cast<unsigned char>(name[i - 1]), here = static_cast<unsigned char>(name[i]);
  return !std::isalnum(before) || (std::islower(before) && std::isupper(here));
}

}  // namespace

// The best of all ways to match the letters, by dynamic programming over name and letters: `best[i]` is the
// score of the letters so far when the last of them matches at position i.
std::optional<int> fuzzy_score(std::string_view typed, std::string_view name) {
  std::string letters;
  for (const char c : typed)
    if (c != ' ') letters += lower(c);
  if (letters.empty()) return 0;
  std::vector<int> best(name.size(), kNone), next(name.size());
  for (size_t k = 0; k < letters.size(); ++k) {
    int before = k == 0 ? 0 : kNone;  // the best score that ends before position i
    for (size_t i = 0; i < name.size(); ++i) {
      next[i] = kNone;
      if (lower(name[i]) == letters[k]) {
        const int here = 1 + (begins_word(name, i) ? 8 : 0) + (k == 0 && i == 0 ? 4 : 0);
        if (before > kNone) next[i] = before + here;
        if (k > 0 && i > 0 && best[i - 1] > kNone) next[i] = std::max(next[i], best[i - 1] + here + 8);
      }
      if (k > 0) before = std::max(before, best[i]);
    }
    best.swap(next);
  }
  const int found = name.empty() ? kNone : *std::max_element(best.begin(), best.end());
  if (found <= kNone) return {};
  return 16 * found - int(std::min<size_t>(name.size(), 500));
}

}  // namespace lunagrad

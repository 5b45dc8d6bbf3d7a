#include "ui/base/name_search.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>
#include <vector>

namespace lunagrad {
namespace {

// Scores of one typed word by where it was found; the quality of the match counts within them.
constexpr int kTitle = 800, kFirstWord = 10, kSynonym = 600, kGroup = 400, kDescription = 200;
constexpr int kWholeTitle = 3000, kTitleStart = 1500;  // for all typed words together
constexpr int kAbbreviation = 150, kPiece = 10;        // fewer pieces are better
enum Quality { kNoMatch = 0, kStem = 20, kPrefix = 80, kInflected = 100, kEqual = 120 };

constexpr std::array<std::string_view, 20> kSmall = {"a",    "an",  "and", "at",  "by", "do",  "for",
                                                     "from", "how", "i",   "in",  "is", "it",  "my",
                                                     "of",   "on",  "or",  "the", "to", "with"};

char small_letter(char c) { return char(std::tolower(static_cast<unsigned char>(c))); }
bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || (c & 0x80); }

// Whether a capital begins a word within a name: CrossEntropyLoss has three words, NaN is one.
bool begins_inner_word(std::string_view text, size_t i) {
  const auto is_small = [&](size_t at) { return std::islower(static_cast<unsigned char>(text[at])) != 0; };
  return std::isupper(static_cast<unsigned char>(text[i])) && is_small(i - 1) && i + 1 < text.size() &&
         is_small(i + 1);
}

// Calls `each` with the words of the text in lower case, until it returns false.
template <class Each>
void visit_words(std::string_view text, std::string& word, Each&& each) {
  for (size_t i = 0; i < text.size();) {
    if (!in_word(text[i])) {
      ++i;
      continue;
    }
    word.clear();
    do {
      word += small_letter(text[i++]);
    } while (i < text.size() && in_word(text[i]) && !begins_inner_word(text, i));
    if (!each(word)) return;
  }
}

std::vector<std::string> words_in(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  visit_words(text, word, [&](const std::string& found) {
    words.push_back(found);
    return true;
  });
  return words;
}

// The word without the endings -s, -es, -ies, -ing and -ed, in every spelling that it may have had before.
std::vector<std::string> stems_of(const std::string& word) {
  std::vector<std::string> stems;
  const auto add = [&](std::string stem, size_t least) {
    if (stem.size() >= least) stems.push_back(std::move(stem));
  };
  const auto without = [&](std::string_view ending) { return word.substr(0, word.size() - ending.size()); };
  if (word.ends_with('s') && !word.ends_with("ss")) add(without("s"), 3);
  if (word.ends_with("es")) add(without("es"), 3);
  if (word.ends_with("ies")) add(without("ies") + "y", 4);
  for (const std::string_view ending : {"ing", "ed"}) {
    if (!word.ends_with(ending)) continue;
    std::string stem = without(ending);
    add(stem, 4);
    add(stem + "e", 4);
    if (stem.size() > 3 && stem[stem.size() - 1] == stem[stem.size() - 2]) {
      stem.pop_back();
      add(stem, 3);
    }
  }
  return stems;
}

int quality(const std::string& typed, const std::vector<std::string>& stems, const std::string& word) {
  if (word.starts_with(typed)) {
    const std::string_view rest = std::string_view(word).substr(typed.size());
    return rest.empty() ? kEqual : rest == "s" && typed.size() > 2 ? kInflected : kPrefix;
  }
  int best = kNoMatch;
  for (const std::string& stem : stems) {
    if (word == stem) return kInflected;
    if (word.starts_with(stem)) best = kStem;
  }
  return best;
}

// In how few pieces the letters are beginnings of words, in their order. Nothing if they are not.
std::optional<int> abbreviation(std::string_view letters, std::string_view title) {
  constexpr int kNever = 1000;
  std::vector<int> pieces(letters.size() + 1, kNever);  // by the number of letters that were found
  pieces[0] = 0;
  std::string word;
  visit_words(title, word, [&](const std::string& found) {
    for (size_t at = letters.size(); at-- > 0;) {
      if (pieces[at] == kNever) continue;
      for (size_t i = 0; at + i < letters.size() && i < found.size() && letters[at + i] == found[i]; ++i)
        pieces[at + i + 1] = std::min(pieces[at + i + 1], pieces[at] + 1);
    }
    return true;
  });
  if (pieces.back() == kNever) return {};
  return pieces.back();
}

}  // namespace

TypedWords::TypedWords(std::string_view typed) {
  for (std::string& word : words_in(typed)) {
    phrase_ += (phrase_.empty() ? "" : " ") + word;
    letters_ += word;
    const bool small = std::find(kSmall.begin(), kSmall.end(), word) != kSmall.end();
    words_.push_back({word, stems_of(word), small});
  }
  if (!words_.empty()) return;
  for (const char c : typed)  // signs alone find titles that have them
    if (c != ' ') letters_ += c;
}

std::optional<int> TypedWords::score(const SearchedName& name) const {
  const int shorter = int(std::min<size_t>(name.title.size(), 76)) / 4;  // among equal matches
  if (words_.empty()) {
    if (name.title.find(letters_) == name.title.npos) return {};
    return kTitle - shorter;
  }
  const size_t colon = name.title.find(": ");
  const std::string_view group = colon == name.title.npos ? "" : name.title.substr(0, colon);
  const std::string_view own = colon == name.title.npos ? name.title : name.title.substr(colon + 2);
  std::string word;
  std::vector<int> best(words_.size(), 0);
  const auto look = [&](std::string_view text, int value, int first) {
    visit_words(text, word, [&](const std::string& found) {
      for (size_t i = 0; i < words_.size(); ++i)
        if (const int match = quality(words_[i].text, words_[i].stems, found); match != kNoMatch)
          best[i] = std::max(best[i], value + match + first);
      first = 0;
      return true;
    });
  };
  look(own, kTitle, kFirstWord);
  look(name.synonyms, kSynonym, 0);
  look(group, kGroup, 0);
  look(name.description, kDescription, 0);
  int sum = 0;
  bool missing = false;
  for (size_t i = 0; i < words_.size(); ++i) {
    missing |= best[i] == 0 && !words_[i].small;
    sum += best[i];
  }
  if (missing || sum == 0) {
    const std::optional<int> pieces = abbreviation(letters_, name.title);
    if (!pieces) return {};
    return kAbbreviation - kPiece * *pieces - shorter;
  }
  // The typed words in one piece, as the title without or with its group.
  const auto joined = [&](std::string_view text) {
    std::string title;
    visit_words(text, word, [&](const std::string& found) {
      title += (title.empty() ? "" : " ") + found;
      return true;
    });
    return title;
  };
  const std::string title = joined(own), whole = joined(name.title);
  if (title == phrase_ || whole == phrase_)
    sum += kWholeTitle;
  else if (title.starts_with(phrase_) ||
           (whole.starts_with(phrase_) && phrase_.size() > whole.size() - title.size()))
    sum += kTitleStart;
  return sum - shorter;
}

}  // namespace lunagrad

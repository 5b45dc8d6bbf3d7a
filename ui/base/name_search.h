#pragma once
// How well typed words find a thing by what it is called and what it does. Pure; any thread.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lunagrad {

// What is searched of a thing. The title may begin with a group: "Tape: export".
struct SearchedName {
  std::string_view title;
  std::string_view synonyms = {};     // words separated by spaces
  std::string_view description = {};  // a sentence
};

// The typed text, cut into words once for all the things that it is compared with.
class TypedWords {
 public:
  explicit TypedWords(std::string_view typed);
  // Nothing unless every word is the beginning of a word of the thing, or the letters are beginnings of words
  // of the title ("laywri": Layout: Write). Endings such as -s and -ing are ignored, and small words like
  // "the" may be missing. Higher is better: the whole title, then its beginning, its words, synonyms, the
  // words of the group and of the description, and at last beginnings of words of the title.
  std::optional<int> score(const SearchedName&) const;
  bool empty() const { return words_.empty() && letters_.empty(); }

 private:
  struct Word {
    std::string text;
    std::vector<std::string> stems;  // the word without its ending
    bool small = false;              // a word like "the"
  };
  std::vector<Word> words_;
  std::string phrase_;   // the words with one space between them
  std::string letters_;  // the words without spaces
};

}  // namespace lunagrad

#pragma once
// A regular expression over names, as a user types it: a part of the name must match. A wrong one lets
// everything through and says why. Drawing thread only.
#include <map>
#include <regex>
#include <string>

namespace lunagrad {

class NameFilter {
 public:
  void set(const std::string& pattern);  // "": everything
  const std::string& pattern() const { return pattern_; }
  const std::string& problem() const { return problem_; }  // "" when the pattern is sound
  bool matches(const std::string& name) const;             // remembers what it found

 private:
  std::string pattern_, problem_;
  std::regex regex_;
  mutable std::map<std::string, bool> known_;
};

}  // namespace lunagrad

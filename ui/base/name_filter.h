#pragma once
// A regular expression that the user types to filter names: it may match any part of the name. An invalid one
// matches everything and reports its error. Drawing thread only.
#include <map>
#include <regex>
#include <string>

namespace lunagrad {

class NameFilter {
 public:
  void set(const std::string& pattern);  // "" matches everything
  const std::string& pattern() const { return pattern_; }
  const std::string& problem() const { return problem_; }  // "" if the pattern is valid
  bool matches(const std::string& name) const;             // caches its results

 private:
  std::string pattern_, problem_;
  std::regex regex_;
  mutable std::map<std::string, bool> known_;
};

}  // namespace lunagrad

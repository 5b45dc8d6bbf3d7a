#include "ui/base/name_filter.h"

namespace lunagrad {
namespace {

// Selects the engine of libstdc++ that follows all alternatives in parallel (Thompson): no pattern takes
// exponential time, and it does not recurse per character.
constexpr auto kSyntax = std::regex::ECMAScript | std::regex::icase | std::regex::nosubs
#ifdef __GLIBCXX__
                         | std::regex_constants::__polynomial
#endif
    ;

const char* reason_of(std::regex_constants::error_type code) {
  using namespace std::regex_constants;
  switch (code) {
    case error_brack:
      return "a [ has no ]";
    case error_paren:
      return "a ( has no ), or a ) no (";
    case error_brace:
    case error_badbrace:
      return "{ } must hold one number or two, as in a{2} or a{2,5}";
    case error_badrepeat:
      return "there is nothing before * + ? or { to repeat";
    case error_range:
      return "a range in [ ] runs backwards";
    case error_escape:
      return "a \\ is followed by nothing that it can mean";
    case error_backref:
    case error_complexity:
      return "references such as \\1 are not supported";
    case error_ctype:
      return "an unknown [: class :]";
    case error_collate:
      return "an unknown [. name .]";
    case error_space:
    case error_stack:
      return "it is too large";
    default:
      return "it is not a regular expression";
  }
}

}  // namespace

void NameFilter::set(const std::string& pattern) {
  if (pattern == pattern_) return;
  pattern_ = pattern;
  problem_.clear();
  known_.clear();
  try {
    regex_ = std::regex(pattern, kSyntax);
  } catch (const std::regex_error& error) {
    problem_ = "\"" + pattern + "\": " + reason_of(error.code());
  }
}

bool NameFilter::matches(const std::string& name) const {
  if (pattern_.empty() || !problem_.empty()) return true;
  const auto [known, fresh] = known_.try_emplace(name, false);
  if (fresh) known->second = std::regex_search(name, regex_);
  return known->second;
}

}  // namespace lunagrad

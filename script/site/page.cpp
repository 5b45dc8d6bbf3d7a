#include "script/site/page.h"

#include <algorithm>

namespace lunagrad {

std::string to_root(const SitePage& page) {
  std::string up;
  for (const char c : page.path)
    if (c == '/') up += "../";
  return up;
}

std::string free_anchor(const SitePage& page, const std::string& wanted) {
  const auto taken = [&](const std::string& anchor) {
    return std::any_of(page.entries.begin(), page.entries.end(),
                       [&](const SiteEntry& entry) { return entry.anchor == anchor; });
  };
  std::string anchor = wanted;
  for (int count = 1; taken(anchor); ++count) anchor = wanted + "-" + std::to_string(count);
  return anchor;
}

}  // namespace lunagrad

#pragma once
// A page of the site of the documents, before its frame is put around it.
#include <string>
#include <vector>

namespace lunagrad {

// A place in a page that the search finds.
struct SiteEntry {
  std::string title;   // "lg.nn.Linear(in_features, out_features, options)", "Training"
  std::string anchor;  // the id of its heading; "" for the page itself
  std::string name;    // how code in a text calls it: "lg.nn.Linear", "lunagrad runs export"; "" if it cannot
  std::string text;    // plain
  bool listed = true;  // in the page's list of contents
};

struct SitePage {
  std::string path;   // in the site's folder: "guide.html", "reference/lg.nn.html"
  std::string group;  // its heading in the navigation
  std::string title;
  std::string body;  // HTML that begins with the heading h1
  std::vector<SiteEntry> entries;
};

// From the folder of a page to the site's folder: "../" for "reference/lg.nn.html", "" for "guide.html".
std::string to_root(const SitePage&);
// `wanted` as an anchor that no entry of the page has: "step-1" if it has "step".
std::string free_anchor(const SitePage&, const std::string& wanted);

}  // namespace lunagrad

#pragma once
// The frame around each page of the site: head, header with the search, navigation, footer. Pure; any thread.
#include <map>
#include <string>
#include <vector>

#include "script/site/page.h"

namespace lunagrad {

// Where the site explains a name: "lg.nn.Linear" -> "reference/lg.nn.html#lg.nn.Linear".
std::map<std::string, std::string> named_places(const std::vector<SitePage>&);
// The whole HTML file of a page. Names in its code become links to their places.
std::string framed(const SitePage&, const std::vector<SitePage>& all,
                   const std::map<std::string, std::string>& places);
// The pages by groups as lists of links, for the page `from`.
std::string list_of_pages(const std::vector<SitePage>& all, const SitePage& from);

}  // namespace lunagrad

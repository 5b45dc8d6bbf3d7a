#pragma once
// The hand-written pages of the site: the Markdown files of docs/ and the scripts of examples/. The program
// `cmark-gfm` turns Markdown into HTML. No Lua; any thread. Errors are of kind file.
#include <vector>

#include "script/site/page.h"

namespace lunagrad {

// The start page comes first, then the pages in the order in which the READMEs list them.
std::vector<SitePage> document_pages();
// The folder of the pictures that the pages show; it is the folder pictures/ of the site.
std::string pictures_directory();

}  // namespace lunagrad

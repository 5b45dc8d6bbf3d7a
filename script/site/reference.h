#pragma once
// The reference of the site: a page for each table and class of the library, each family of ops, each command
// and PyTorch's names. They have the texts of `lunagrad help`. No Lua; any thread.
#include <vector>

#include "script/cli/base/flags.h"
#include "script/site/page.h"

namespace lunagrad {

std::vector<SitePage> reference_pages(const CommandText& program);

}  // namespace lunagrad

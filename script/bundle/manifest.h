#pragma once
// bundle.json, the first entry of a bundle, as text, and the names of the other entries. Pure functions.
// Errors are of kind file; `where` is the bundle's path.
#include <string>
#include <string_view>

#include "script/run/bundle.h"

namespace lunagrad {

inline constexpr std::string_view kRunPart = "run/";  // prefix of the entries from the run's folder

std::string manifest_text(const Bundle&);
Bundle manifest_in(const std::string& json, const std::string& where);
// The id of the run for which the manifest has the user's own mark; "" when there is no such mark.
std::string run_marked_in(const std::string& manifest);

// Where a script's file is put in the folder into which a bundle is unpacked: at the same path if that stays
// inside, else at a path below outside/.
std::string place_inside(const std::string& path);

}  // namespace lunagrad

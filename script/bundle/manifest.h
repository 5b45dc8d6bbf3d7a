#pragma once
// bundle.json, the first entry of a bundle, as text, and the names of the others. Functions without state.
// Errors are of kind file; `where` is the bundle's path.
#include <string>
#include <string_view>

#include "script/bundle/bundle.h"

namespace lunagrad {

inline constexpr std::string_view kManifest = "bundle.json";
inline constexpr std::string_view kRunPart = "run/";  // begins the names of the run folder's parts

std::string manifest_text(const Bundle&);
Bundle manifest_in(const std::string& json, const std::string& where);
// The id of the run that the user's own mark in a manifest is for; "" when it has no such mark.
std::string run_marked_in(const std::string& manifest);

// The place of a file of the script in the folder that a bundle is unpacked into: the same path where it
// stays inside, else one below outside/.
std::string place_inside(const std::string& path);

}  // namespace lunagrad

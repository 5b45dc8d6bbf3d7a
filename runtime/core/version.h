#pragma once
// The version of Lunagrad. CMakeLists.txt reads it here.
#define LUNAGRAD_VERSION_MAJOR 0
#define LUNAGRAD_VERSION_MINOR 1
#define LUNAGRAD_VERSION_PATCH 0

#define LUNAGRAD_VERSION_TEXT(major, minor, patch) #major "." #minor "." #patch
#define LUNAGRAD_VERSION_OF(major, minor, patch) LUNAGRAD_VERSION_TEXT(major, minor, patch)
// "0.1.0"
#define LUNAGRAD_VERSION \
  LUNAGRAD_VERSION_OF(LUNAGRAD_VERSION_MAJOR, LUNAGRAD_VERSION_MINOR, LUNAGRAD_VERSION_PATCH)

#pragma once
// What the JSON of a run's folder, of its page and of `run --json` have in common. Pure; any thread.
#include <string>
#include <string_view>

#include "script/view/json.h"
#include "script/view/run.h"

namespace lunagrad {

// On one line, or indented. Lua strings are bytes; invalid UTF-8 becomes U+FFFD.
std::string json_text(const Json&, int indent = -1);
// The object as text, with a first entry "checksummed" and the text's checksum as the last entry, so that
// damage of the file is noticed.
std::string checked_text(const Json& object, int indent = -1);
std::string with_checksum(std::string object);  // checked_text for the text of an object on one line
// Whether a text has a wrong or damaged checksum, contains a zero byte, or holds no entry. A text of an
// earlier version has no checksum and is not damaged.
bool is_damaged(std::string_view text);
void erase_checksum(Json& object);  // the entries "checksummed" and "checksum"
// Arguments, parameters, device, seed and steps. options_in throws an nlohmann::json exception when one is
// damaged.
void put_options(Json&, const RunOptions&);
RunOptions options_in(const Json&);
std::string utc_now();  // "2026-01-31T23:59:59Z"

}  // namespace lunagrad

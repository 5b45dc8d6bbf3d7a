#pragma once
// The page that shows runs in a browser: one HTML text with its styles and scripts (web/), used for files and
// by `lunagrad serve`. Pure; any thread.
#include <string>

namespace lunagrad {

// The kinds of pages. file: runs in a file, which needs no network. live: runs that the page requests from
// its server. tape_diff: the difference of two tapes, in a file.
enum class ReportPage { file, live, tape_diff };

// `data` is JSON: {"runs": […]}, {"live": true}, or page_json() of script/tape_diff/json.h.
std::string report_page(const std::string& title, const std::string& data, ReportPage kind);

}  // namespace lunagrad

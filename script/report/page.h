#pragma once
// The page that shows runs in a browser: one HTML text with its styles and scripts (web/), for a file as for
// `lunagrad serve`. Pure; any thread.
#include <string>

namespace lunagrad {

// The kinds of pages: of runs in a file, which needs no network; of runs that it asks its server for; of the
// difference of two tapes, a file.
enum class ReportPage { file, live, tape_diff };

// `data` is JSON: {"runs": […]}, {"live": true}, or page_json() of script/tape_diff/json.h.
std::string report_page(const std::string& title, const std::string& data, ReportPage kind);

}  // namespace lunagrad

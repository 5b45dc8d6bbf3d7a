#pragma once
// The page that shows runs in a browser: one HTML text with its styles and scripts (web/), for a file as for
// `lunagrad serve`. Pure; any thread.
#include <string>

namespace lunagrad {

// `data`: {"runs": […]} for a file, which then needs no network; {"live": true} for a page that asks its
// server.
std::string report_page(const std::string& title, const std::string& data, bool live);

}  // namespace lunagrad

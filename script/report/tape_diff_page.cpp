#include "script/report/tape_diff_page.h"

#include <nlohmann/json.hpp>

#include "runtime/core/version.h"
#include "script/report/page.h"
#include "script/run/json.h"
#include "script/tape_diff/json.h"

namespace lunagrad {

std::string tape_diff_page(const TapeDiff& diff) {
  nlohmann::ordered_json data{{"made", utc_now()}, {"version", LUNAGRAD_VERSION}};
  data.update(page_json(diff));
  return report_page("Tape diff: " + diff.a.title + " and " + diff.b.title, json_text(data),
                     ReportPage::tape_diff);
}

}  // namespace lunagrad

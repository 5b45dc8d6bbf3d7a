#include "script/report/export.h"

#include <nlohmann/json.hpp>

#include "runtime/core/path_text.h"
#include "runtime/core/version.h"
#include "runtime/io/atomic_file.h"
#include "script/report/page.h"
#include "script/report/run_report.h"
#include "script/run/json.h"

namespace lunagrad {
namespace {

std::string report_html(const std::vector<std::string>& folders) {
  nlohmann::ordered_json data{
      {"live", false}, {"made", utc_now()}, {"version", LUNAGRAD_VERSION}, {"runs", nlohmann::json::array()}};
  const ReportLimits limits = ReportLimits().shared_by(folders.size());
  std::string title;
  for (const std::string& folder : folders) {
    RunReport run(folder, limits, true);
    run.more();
    data["runs"].push_back(run.json());
    title += (title.empty() ? "" : ", ") + path_text(run.record().name);
  }
  return report_page(title, json_text(data), ReportPage::file);
}

}  // namespace

void export_report(const std::vector<std::string>& folders, const std::string& path) {
  write_file(path, report_html(folders));
}

}  // namespace lunagrad

#include "ui/panels/runs/folder_tasks.h"

#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "script/report/export.h"
#include "ui/window/theme.h"

namespace lunagrad {

void FolderTasks::change(Workbench& bench, std::function<void()> work, const std::string& well) {
  bench.shell().background_tasks().add(std::move(work), [this, &bench, well](const std::string& problem) {
    result_ = problem.empty() ? well : problem;
    failed_ = !problem.empty();
    if (!result_.empty())
      bench.shell().write(failed_ ? ConsoleLine::Kind::error : ConsoleLine::Kind::note, result_ + "\n");
    bench.curves().look_again();
  });
}

void FolderTasks::export_runs(Workbench& bench, const std::vector<std::string>& folders) {
  const auto path = std::make_shared<std::string>();
  result_ = "writing a page";
  failed_ = false;
  bench.shell().background_tasks().add(
      [path, folders] {
        const std::string base = folders.size() == 1
                                     ? folders[0]
                                     : folders[0].substr(0, folders[0].find_last_of('/')) + "/comparison";
        *path = base + ".html";
        std::error_code ignored;
        for (int copy = 2; std::filesystem::exists(*path, ignored); ++copy)
          *path = base + "-" + std::to_string(copy) + ".html";
        export_report(folders, *path);
      },
      [this, &bench, path](const std::string& problem) {
        failed_ = !problem.empty();
        result_ = failed_ ? "not exported: " + problem : "wrote " + *path;
        bench.shell().write(failed_ ? ConsoleLine::Kind::error : ConsoleLine::Kind::note, result_ + "\n");
      });
}

void FolderTasks::draw(Workbench& bench) const {
  if (result_.empty()) return;
  ImGui::PushTextWrapPos(0);
  text_in(failed_ ? theme().bad : theme().muted, "%s%s", failed_ ? "\xc3\x97 " : "", result_.c_str());
  ImGui::PopTextWrapPos();
  bench.description().add_last("runs.told", result_);
}

}  // namespace lunagrad

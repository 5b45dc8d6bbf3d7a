#include "tests/script/time/trainings.h"

#include <cctype>
#include <future>
#include <nlohmann/json.hpp>
#include <sstream>

#include "script/run/record.h"

namespace lunagrad::tests {

Rows rows_of(const std::string& lines) {
  Rows rows;
  std::istringstream in(lines);
  for (std::string line; std::getline(in, line);) {
    const nlohmann::json row = nlohmann::json::parse(line);
    rows.emplace_back(row["step"], row["value"]);
  }
  return rows;
}

Rows logged(const RunRecord& run, const std::string& metric) {
  Rows rows;
  for (const MetricPoint& point : run.metrics.at(metric)) rows.emplace_back(point.step, point.value);
  return rows;
}

MadeRun make_run(const std::string& script, const std::string& folder, RunOptions options,
                 const std::function<void(Session&, const Event&)>& also) {
  MadeRun made;
  made.folder = folder;
  options.run_directory = folder;
  Session* running = nullptr;
  Session session([&](const Event& event) {
    const size_t space = event.text.find(' ');
    if (event.kind == Event::Kind::output && space != std::string::npos && std::isdigit(event.text[0]))
      made.fingerprints[std::stoll(event.text)] = event.text.substr(space + 1, event.text.size() - space - 2);
    if (also) also(*running, event);
  });
  running = &session;
  session.run_file(script, std::move(options));
  made.outcome = session.wait();
  return made;
}

ReplayOptions Scrubber::options(std::shared_ptr<KeyframeSource> keyframes) {
  ReplayOptions options;
  options.keyframes = std::move(keyframes);
  options.warn = [this](const std::string& fact) { warnings.push_back(fact); };
  options.events = [this](const Event& event) {
    const std::lock_guard lock(mutex_);
    if (event.kind == Event::Kind::output || event.kind == Event::Kind::error) output_ = event.text;
  };
  return options;
}

Scrubber::Scrubber(const std::string& folder, std::shared_ptr<KeyframeSource> keyframes)
    : replay(folder, options(std::move(keyframes))) {}

std::string Scrubber::evaluated(const std::string& expression) {
  std::promise<void> done;
  replay.session().eval("print(" + expression + ")", [&](bool) { done.set_value(); });
  done.get_future().wait();
  const std::lock_guard lock(mutex_);
  return output_.substr(0, output_.find('\n'));
}

std::string Scrubber::fingerprint(int64_t step) {
  replay.go_to(step);
  return evaluated("fingerprint()");
}

}  // namespace lunagrad::tests

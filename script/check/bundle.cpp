#include "script/run/bundle.h"

#include "runtime/core/error.h"
#include "script/check/check.h"

namespace lunagrad {

void check_bundle(const std::string& path, CheckReport& report) {
  ++report.bundles;
  try {
    verify_bundle(path);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::device) throw;  // the build leaves bundles out
    std::string what = error.what();
    if (what.starts_with(path + ": ")) what = what.substr(path.size() + 2);
    report.damages.push_back({path, std::move(what), ""});
  }
}

}  // namespace lunagrad

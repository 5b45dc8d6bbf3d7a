#include "script/run/bundle.h"

#include <filesystem>

#include "runtime/io/input_file.h"
#include "script/parts/names.h"
#include "script/parts/parts.h"

namespace lunagrad {
namespace {

const BundleReader& bundle_reader(const std::string& path) {
  if (const BundleReader* const part = parts().bundles) return *part;
  fail_left_out(path + ": the reader of bundles");
}

}  // namespace

bool is_bundle(const std::string& path) {
  constexpr size_t kName = 30;  // offset of the name in a zip entry
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;
  const InputFile file(path);
  std::string start(kName + kManifest.size(), '\0');
  if (file.size() < start.size()) return false;
  file.read(start.data(), 0, start.size());
  return start.starts_with("PK\3\4") && start.ends_with(kManifest);
}

Bundle read_bundle(const std::string& path) { return bundle_reader(path).read(path); }

void verify_bundle(const std::string& path) { bundle_reader(path).verify(path); }

Bundle unpack_run(const std::string& bundle, const std::string& folder) {
  return bundle_reader(bundle).unpack_run(bundle, folder);
}

UnpackedBundle unpack_bundle(const std::string& bundle, const std::string& folder, bool confined,
                             const BundleProgress& progress) {
  return bundle_reader(bundle).unpack(bundle, folder, confined, progress);
}

RunOrigin origin_of_bundle(const std::string& bundle, const std::string& run_folder) {
  return bundle_reader(bundle).origin(bundle, run_folder);
}

}  // namespace lunagrad

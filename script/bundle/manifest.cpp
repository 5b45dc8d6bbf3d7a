#include "script/bundle/manifest.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "runtime/core/error.h"
#include "runtime/core/path_text.h"
#include "runtime/io/json_text.h"
#include "script/run/json.h"
#include "script/trust/inside.h"
#include "script/trust/trust_key.h"

namespace lunagrad {
namespace fs = std::filesystem;
namespace {

constexpr const char* kFormat = "lunagrad bundle";
constexpr int kVersion = 1;
constexpr const char* kKinds[] = {"data", "folder", "module"};

bool is_sha256(const std::string& digits) {
  return digits.size() == 64 && digits.find_first_not_of("0123456789abcdef") == digits.npos;
}

BundleFile file_in(const Json& json, const std::string& where) {
  BundleFile file;
  const std::string kind = json.at("kind");
  const auto known = std::find(std::begin(kKinds), std::end(kKinds), kind);
  if (known == std::end(kKinds)) fail_as(ErrorKind::file, where, ": a file of unknown kind '", kind, "'");
  file.kind = UsedFile::Kind(known - std::begin(kKinds));
  file.path = path_of_text(json.at("path").get<std::string>());
  file.origin = path_of_text(json.at("origin").get<std::string>());
  if (file.path.empty() || file.path.find('\0') != file.path.npos ||
      file.origin.find('\0') != file.origin.npos)
    fail_as(ErrorKind::file, where, ": a file without a path");
  if (file.kind == UsedFile::Kind::folder) return file;
  file.bytes = json.at("bytes");
  file.sha256 = json.at("sha256");
  file.entry = json.value("entry", "");
  if (!is_sha256(file.sha256)) fail_as(ErrorKind::file, where, ": ", file.path, " has no SHA-256");
  return file;
}

}  // namespace

std::string manifest_text(const Bundle& bundle) {
  Json json{{"format", kFormat},
            {"version", kVersion},
            {"lunagrad", bundle.version},
            {"script", path_text(bundle.script)}};
  json["files"] = Json::array();
  for (const BundleFile& file : bundle.files) {
    Json one{{"kind", kKinds[size_t(file.kind)]},
             {"path", path_text(file.path)},
             {"origin", path_text(file.origin)}};
    if (file.kind != UsedFile::Kind::folder) one.update({{"bytes", file.bytes}, {"sha256", file.sha256}});
    if (!file.entry.empty()) one["entry"] = file.entry;
    json["files"].push_back(std::move(one));
  }
  json["left_out"] = path_texts(bundle.left_out);
  if (bundle.run_id.empty()) return json_text(json, 2) + "\n";
  json["run_id"] = bundle.run_id;
  if (const auto trust_key = TrustKey::make()) json["mark"] = trust_key->mark("bundle", "", json_text(json));
  return json_text(json, 2) + "\n";
}

std::string run_marked_in(const std::string& manifest) {
  Json json = read_json<Json>(manifest);
  if (!json.is_object() || !json.contains("mark") || !json.contains("run_id")) return {};
  const Json mark = json["mark"], id = json["run_id"];
  json.erase("mark");
  std::string why;
  const auto trust_key = TrustKey::find(why);
  if (!trust_key || !id.is_string() || mark != trust_key->mark("bundle", "", json_text(json))) return {};
  return id;
}

Bundle manifest_in(const std::string& text, const std::string& where) {
  try {
    const Json json = parse_json<Json>(text, where + ": " + std::string(kManifest));
    if (json.at("format") != kFormat) fail_as(ErrorKind::file, where, ": not a bundle of a run");
    if (const int version = json.at("version"); version > kVersion)
      fail_as(ErrorKind::file, where, ": a bundle of a later version (", version, "; this is ", kVersion,
              ")");
    Bundle bundle;
    bundle.version = json.at("lunagrad");
    bundle.script = path_of_text(json.at("script").get<std::string>());
    if (bundle.script.find('\0') != bundle.script.npos)
      fail_as(ErrorKind::file, where, ": its script has no path");
    bundle.place = place_inside(bundle.script);
    for (const Json& file : json.at("files")) bundle.files.push_back(file_in(file, where));
    for (const Json& part : json.at("left_out"))
      bundle.left_out.push_back(path_of_text(part.get<std::string>()));
    return bundle;
  } catch (const Json::exception& error) {
    fail_as(ErrorKind::file, where, ": ", kManifest, " is damaged: ", error.what());
  }
}

std::string place_inside(const std::string& path) {
  std::string plain = fs::path(path).lexically_normal().string();
  if (plain.size() > 1 && plain.ends_with('/')) plain.pop_back();  // the path of a folder
  if (stays_inside(plain)) return plain;
  fs::path inside = "outside";
  for (const fs::path& part : fs::path(plain)) {
    if (part == "..")
      inside /= "up";
    else if (part != "/" && part != "." && !part.empty())
      inside /= part;
  }
  return inside.string();
}

}  // namespace lunagrad

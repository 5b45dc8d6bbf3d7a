// `lunagrad info FILE`: the format of a file, its arrays and its metadata, as a table or a JSON object.
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "runtime/core/error.h"
#include "runtime/core/path_text.h"
#include "runtime/core/terminal_text.h"
#include "runtime/io/format.h"
#include "runtime/io/input_file.h"
#include "script/cli/base/carry_out.h"
#include "script/cli/base/table.h"
#include "script/cli/command/all.h"
#include "script/run/bundle.h"

namespace lunagrad {
namespace {

// For names and metadata, which come from the file.
std::string shortened(std::string_view text, size_t longest) {
  std::string_view start = text.substr(0, longest);
  start.remove_suffix(begun_character(start));
  return terminal_line(start) + (text.size() > longest ? "…" : "");
}

std::string shape_of_array(const std::vector<uint64_t>& shape) {
  std::string out = "[";
  for (size_t d = 0; d < shape.size(); ++d) out += (d ? ", " : "") + std::to_string(shape[d]);
  return out + "]";
}

void print_file_table(const std::string& path, uint64_t size, const FileInfo& info) {
  std::cout << path << ": " << info.format << ", " << size << " bytes";
  if (info.arrays.size() != 1 || !info.arrays[0].name.empty())
    std::cout << ", " << info.arrays.size() << (info.arrays.size() == 1 ? " tensor" : " tensors");
  std::cout << "\n";
  size_t width = 0;
  for (const ArrayInfo& array : info.arrays) width = std::max(width, std::min<size_t>(array.name.size(), 60));
  char line[400];
  for (const ArrayInfo& array : info.arrays) {
    std::snprintf(line, sizeof line, "  %-*s  %-7s  %-20s  %llu bytes\n", int(width),
                  shortened(array.name, 200).c_str(), shortened(array.type, 20).c_str(),
                  shape_of_array(array.shape).c_str(), static_cast<unsigned long long>(array.bytes));
    std::cout << line + (width ? 0 : 2);
  }
  for (const auto& [key, value] : info.metadata)
    std::cout << "  " << shortened(key, 60) << " = " << shortened(value, 200) << "\n";
}

void print_file_json(const std::string& path, uint64_t size, const FileInfo& info) {
  nlohmann::ordered_json tensors = nlohmann::ordered_json::array();
  for (const ArrayInfo& array : info.arrays)
    tensors.push_back(
        {{"name", array.name}, {"dtype", array.type}, {"shape", array.shape}, {"bytes", array.bytes}});
  const nlohmann::ordered_json object{{"file", path_text(path)},
                                      {"format", info.format},
                                      {"bytes", size},
                                      {"tensors", tensors},
                                      {"metadata", info.metadata}};
  std::cout << object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << "\n";
}

const char* content_of(const BundleFile& file) {
  if (file.kind == UsedFile::Kind::folder) return "folder";
  return file.entry.empty() ? "SHA-256 only" : "packed";
}

int show_bundle(const std::string& path, bool as_json) {
  const Bundle bundle = read_bundle(path);
  const uint64_t size = InputFile(path).size();
  if (as_json) {
    using Json = nlohmann::ordered_json;
    Json files = Json::array();
    for (const BundleFile& file : bundle.files)
      files.push_back({{"path", path_text(file.path)},
                       {"bytes", file.bytes},
                       {"sha256", file.sha256},
                       {"packed", !file.entry.empty()}});
    Json parts = Json::object();
    for (const auto& [part, bytes] : bundle.parts) parts[path_text(part)] = bytes;
    const Json object{{"file", path_text(path)},
                      {"format", "bundle"},
                      {"bytes", size},
                      {"script", path_text(bundle.script)},
                      {"lunagrad", bundle.version},
                      {"files", files},
                      {"run", parts}};
    std::cout << object.dump(-1, ' ', false, Json::error_handler_t::replace) << "\n";
    return 0;
  }
  std::cout << path << ": bundle of a run of " << shortened(bundle.script, 200) << ", lunagrad "
            << shortened(bundle.version, 40) << ", " << size << " bytes\n";
  std::vector<std::vector<std::string>> rows;
  for (const BundleFile& file : bundle.files)
    rows.push_back({"  " + shortened(file.path, 200), content_of(file), text(file.bytes, " bytes"),
                    file.sha256.substr(0, 16)});
  for (const auto& [part, bytes] : bundle.parts)
    rows.push_back({"  run: " + shortened(part, 200), "packed", text(bytes, " bytes"), ""});
  std::cout << table_text(rows);
  return 0;
}

int show_file(const std::string& path, bool as_json) {
  const auto show = [&] {
    if (is_bundle(path)) return show_bundle(path, as_json);
    const FileInfo info = describe_file(path);
    const uint64_t size = InputFile(path).size();
    as_json ? print_file_json(path, size, info) : print_file_table(path, size, info);
    return 0;
  };
  return carry_out("info", show, Outcome::file);
}

}  // namespace

Action add_info(Program& program) {
  const auto path = std::make_shared<std::string>();
  const auto as_json = std::make_shared<bool>(false);
  CLI::App& command =
      add_command(program, "info", "show the contents of an array file: dtypes, shapes, metadata");
  std::string formats;
  for (const FileFormat* format : file_formats())
    formats += (formats.empty() ? "" : ", ") + std::string(format->name);
  add_argument(command, "FILE", *path, (formats + ", text or a run's bundle").c_str());
  add_flag(command, "--json", *as_json, "one JSON object");
  return [=] { return show_file(*path, *as_json); };
}

}  // namespace lunagrad

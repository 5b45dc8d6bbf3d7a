#include "script/trust/marks.h"

#include <sys/random.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "runtime/core/error.h"
#include "runtime/core/path_text.h"
#include "runtime/io/atomic_file.h"
#include "runtime/io/json_text.h"
#include "script/trust/inside.h"

namespace lunagrad {
namespace fs = std::filesystem;
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kEntry = ",\"mark\":\"";
constexpr size_t kMark = 64;  // digits

std::string with_mark(std::string object, const std::string& mark) {
  return object.replace(object.size() - 1, 1, std::string(kEntry) + mark + "\"}");
}

// An object without its mark, which is its last entry, and the mark.
struct Marked {
  std::string object, mark;
};
std::optional<Marked> split(std::string_view line) {
  if (line.size() < kEntry.size() + kMark + 3 || !line.ends_with("\"}")) return std::nullopt;
  const size_t digits = line.size() - kMark - 2, entry = digits - kEntry.size();
  if (line.substr(entry, kEntry.size()) != kEntry) return std::nullopt;
  return Marked{std::string(line.substr(0, entry)) + "}", std::string(line.substr(digits, kMark))};
}

// The text as config.json is written, so that the mark covers what readers find there.
std::string text_of(const Json& config) {
  return config.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string text_at(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

constexpr const char* kDeciding[] = {"resume", "reload", "param", "console", "module"};

// The row of a line that decides what runs; null for other lines. Only \u can spell a key differently.
Json deciding_row(const std::string& line) {
  bool may = line.find("\\u") != line.npos;
  for (const char* key : kDeciding) may = may || line.find('"' + std::string(key) + '"') != line.npos;
  if (!may) return {};
  Json row = read_json<Json>(line);
  if (row.is_object())
    for (const char* key : kDeciding)
      if (row.contains(key)) return row;
  return {};
}

// Reads everything that decides what a run's folder runs, and stores the first proof that the folder is not
// the user's.
class OriginReader {
 public:
  explicit OriginReader(const std::string& folder) : folder_(folder) {}

  RunOrigin read() {
    try {
      read_config();
      read_rows();
      read_texts();
    } catch (const Error& error) {
      suspect(error.what());
      whole_ = false;
    }
    origin_.own = origin_.why.empty();
    if (whole_) origin_.content = content_.finish();
    return std::move(origin_);
  }

 private:
  void suspect(const std::string& why) {
    if (origin_.why.empty()) origin_.why = why;
  }
  void hold(const std::string& name, std::string_view text) {
    const std::string head = lunagrad::text(name.size(), " ", name, " ", text.size(), "\n");
    content_.add(head);
    content_.add(text);
  }

  void read_config() {
    const std::string path = file_inside(folder_, "config.json", folder_), text = read_file(path);
    hold("config.json", text);
    std::string why;
    trust_key_ = TrustKey::find(why);
    if (!trust_key_) suspect(why);
    Json config = read_json<Json>(text);
    if (!config.is_object()) return suspect(path + " is damaged");
    const std::string mark = text_at(config, "mark");
    origin_.run_id = text_at(config, "run_id");
    if (mark.empty() || origin_.run_id.empty())
      return suspect("it has no mark of this user: another user or machine, or an earlier version, made it");
    for (const char* key : {"checksummed", "checksum", "mark"}) config.erase(key);
    if (trust_key_ && trust_key_->mark("config", "", text_of(config)) != mark)
      suspect("config.json has the mark of another user, or was changed");
    if (const auto texts = config.find("sha256"); texts != config.end() && texts->is_object())
      for (const auto& [name, sum] : texts->items())
        if (sum.is_string()) origin_.texts[name] = sum;
    origin_.last_mark = origin_.run_id;
    read_text("script.lua", origin_.texts["script.lua"]);
  }

  void read_rows() {
    std::ifstream in(file_inside(folder_, "metrics.jsonl", folder_), std::ios::binary);
    for (std::string line; std::getline(in, line);) {
      const Json row = deciding_row(line);
      if (!row.is_object()) continue;
      hold("row", line);
      const std::optional<Marked> marked = split(line);
      if (!marked || !trust_key_ ||
          trust_key_->mark("row", origin_.last_mark, marked->object) != marked->mark) {
        suspect("a row of metrics.jsonl has not the mark of this user, or was changed or moved");
      } else {
        origin_.last_mark = marked->mark;
      }
      if (const auto module = row.find("module"); module != row.end() && module->is_object())
        read_text(path_of_text(text_at(*module, "copy")), text_at(*module, "sha256"));
      if (const std::string text = text_at(row, "reload"); !text.empty()) reloads_.insert(text);
    }
  }

  void read_texts() {
    for (const std::string& name : reloads_) {
      const auto known = origin_.texts.find(name);
      read_text(name, known == origin_.texts.end() ? "" : known->second);
    }
  }

  void read_text(const std::string& name, const std::string& sum) {
    const std::string text = read_file(file_inside(folder_, name, folder_));
    hold(name, text);
    if (sha256_of(text) != sum) suspect(name + " was changed");
  }

  const std::string& folder_;
  RunOrigin origin_;
  std::shared_ptr<const TrustKey> trust_key_;
  std::set<std::string> reloads_;
  Sha256 content_;
  bool whole_ = true;
};

}  // namespace

RunOrigin origin_of_run(const std::string& folder) { return OriginReader(folder).read(); }

bool is_marked_file(const std::string& run_id, std::string_view line) {
  // The checksum's entry comes after the mark.
  const size_t end = line.rfind(",\"checksum\":\"");
  std::string why;
  const std::shared_ptr<const TrustKey> trust_key = TrustKey::find(why);
  if (!trust_key || run_id.empty() || end == line.npos) return false;
  constexpr std::string_view kBegin = "{\"checksummed\":true,";
  if (!line.starts_with(kBegin)) return false;
  const std::string object = "{" + std::string(line.substr(kBegin.size(), end - kBegin.size())) + "}";
  const std::optional<Marked> marked = split(object);
  return marked && trust_key->mark("file", run_id, marked->object) == marked->mark;
}

RunMarks::RunMarks(const std::string& folder, bool go_on) {
  if (go_on) {
    RunOrigin origin = origin_of_run(folder);
    if (!origin.own) return;
    run_id_ = std::move(origin.run_id);
    last_mark_ = std::move(origin.last_mark);
    texts_ = std::move(origin.texts);
  } else {
    std::array<uint8_t, 16> id{};
    if (::getrandom(id.data(), id.size(), 0) != ssize_t(id.size())) return;
    for (const uint8_t byte : id) {
      run_id_ += "0123456789abcdef"[byte >> 4];
      run_id_ += "0123456789abcdef"[byte & 15];
    }
    last_mark_ = run_id_;
  }
  trust_key_ = TrustKey::make();
}

void RunMarks::know_text(const std::string& name, std::string_view text) {
  if (trust_key_) texts_[name] = sha256_of(text);
}

void RunMarks::mark_config(Json& config) const {
  if (!trust_key_) return;
  config["run_id"] = run_id_;
  config["sha256"] = texts_;
  const std::string mark = trust_key_->mark("config", "", text_of(config));
  config.erase("sha256");
  config["mark"] = mark;  // not as the last entry, where a reader expects the checksum
  config["sha256"] = texts_;
}

std::string RunMarks::mark_row(std::string row) {
  if (!trust_key_) return row;
  last_mark_ = trust_key_->mark("row", last_mark_, row);
  return with_mark(std::move(row), last_mark_);
}

std::string RunMarks::mark_file(std::string line) const {
  if (!trust_key_) return line;
  const std::string mark = trust_key_->mark("file", run_id_, line);
  return with_mark(std::move(line), mark);
}

}  // namespace lunagrad

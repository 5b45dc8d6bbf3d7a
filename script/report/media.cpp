// The pictures, histograms and texts of a report. The record knows where their lines in metrics.jsonl are;
// the content is read when a page is made.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "runtime/core/figures.h"
#include "runtime/io/json_text.h"
#include "script/report/run_file.h"
#include "script/report/run_report.h"

namespace lunagrad {
namespace {

constexpr size_t kMostBins = 4096;

// At most `most` items of a list, evenly spread, including the first and the last.
template <class T>
std::vector<T> spread(const std::vector<T>& all, size_t most) {
  if (all.size() <= most) return all;
  std::vector<T> some;
  for (size_t i = 0; i < most; ++i)
    some.push_back(all[most == 1 ? all.size() - 1 : i * (all.size() - 1) / (most - 1)]);
  return some;
}

template <class T>
std::vector<T> later(const std::vector<T>& all, uint64_t since) {
  std::vector<T> found;
  for (auto it = all.rbegin(); it != all.rend() && (since == 0 || uint64_t(it->row) >= since); ++it)
    found.push_back(*it);
  std::reverse(found.begin(), found.end());
  return found;
}

std::string base64(const std::string& bytes) {
  static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t word = 0;
    for (size_t k = 0; k < 3; ++k)
      word = word << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0);
    for (size_t k = 0; k < 4; ++k) text += i + k <= bytes.size() ? kDigits[word >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

std::string file_of(const LoggedItem& item) {
  return "images/" + std::filesystem::path(item.what).filename().string();
}

std::string some_of(size_t shown, size_t all, const char* what, const std::string& name) {
  return count_figure(int64_t(all - shown)) + " of " + count_figure(int64_t(all)) + " " + what + " of \"" +
         name + "\"";
}

bool all_numbers(const Json& list) {
  return list.is_array() && list.size() <= kMostBins &&
         std::all_of(list.begin(), list.end(), [](const Json& value) { return value.is_number(); });
}

// The fields that a page draws, without fields of an unexpected form.
Json checked_histogram(const Json& values) {
  if (!values.is_object()) return {};
  Json checked = Json::object();
  for (const char* key : {"count", "min", "max", "mean", "std", "norm", "zeros", "nan", "inf", "-inf"})
    if (values.contains(key) && (values[key].is_number() || values[key].is_string()))
      checked[key] = values[key];
  if (values.contains("edges") && values.contains("counts") && all_numbers(values["edges"]) &&
      all_numbers(values["counts"]) && values["edges"].size() == values["counts"].size() + 1) {
    checked["edges"] = values["edges"];
    checked["counts"] = values["counts"];
  }
  return checked;
}

}  // namespace

// The row at that place of metrics.jsonl; null when it cannot be read.
Json RunReport::row_at(const RowPlace& place) const {
  const auto part = read_run_file(folder_, "metrics.jsonl", place.length, place.row);
  if (!part) return {};
  Json row = read_json<Json>(part->text);
  return row.is_object() ? row : Json();
}

Json RunReport::images(uint64_t since, LeftOut& left_out) const {
  std::map<std::string, std::vector<LoggedItem>> chosen;
  const auto choose = [&](size_t most) {
    for (const auto& [name, items] : record().images) chosen[name] = spread(later(items, since), most);
  };
  size_t most = limits_.images_per_name;
  choose(most);
  if (embed_) {
    const auto bytes = [&] {
      int64_t sum = 0;
      std::error_code error;
      for (const auto& [name, items] : chosen)
        for (const LoggedItem& item : items) {
          const auto size = std::filesystem::file_size(folder_ + "/" + file_of(item), error);
          if (!error) sum += int64_t(size);
        }
      return sum;
    };
    while (most > 1 && bytes() > limits_.image_bytes) choose(most /= 2);
  }
  Json json = Json::object();
  int64_t used = 0;
  for (const auto& [name, items] : chosen) {
    Json list = Json::array();
    for (const LoggedItem& item : items) {
      Json entry{{"step", item.step}};
      if (embed_) {
        const auto file = read_run_file(folder_, file_of(item), limits_.image_bytes - used);
        if (!file || int64_t(file->text.size()) < file->size || !is_png(file->text)) continue;
        used += file->size;
        entry["data"] = "data:image/png;base64," + base64(file->text);
      } else {
        entry["file"] = file_of(item).substr(7);
      }
      list.push_back(std::move(entry));
    }
    const size_t all = record().images.at(name).size();
    if (since == 0 && list.size() < all) left_out.push_back(some_of(list.size(), all, "pictures", name));
    if (!list.empty()) json[name] = std::move(list);
  }
  return json;
}

Json RunReport::histograms(uint64_t since, LeftOut& left_out) const {
  Json json = Json::object();
  size_t names = 0, used = 0;
  for (const auto& [name, items] : record().histograms) {
    Json list = Json::array();
    if (used < limits_.histograms) {
      const size_t most = std::min(limits_.histograms_per_name, limits_.histograms - used);
      for (const LoggedItem& item : spread(later(items, since), most)) {
        const Json row = row_at(item);
        if (!row.is_object() || !row.contains("histogram") || !row["histogram"].is_object() ||
            !row["histogram"].contains(name))
          continue;
        Json entry = checked_histogram(row["histogram"][name]);
        if (!entry.is_object()) continue;
        entry["step"] = item.step;
        list.push_back(std::move(entry));
        ++used;
      }
    }
    if (since == 0 && list.size() < items.size() && ++names <= 20)
      left_out.push_back(some_of(list.size(), items.size(), "histograms", name));
    if (!list.empty()) json[name] = std::move(list);
  }
  if (names > 20) left_out.push_back("histograms of " + count_figure(int64_t(names - 20)) + " further names");
  return json;
}

Json RunReport::texts(uint64_t since, LeftOut& left_out) const {
  Json json = Json::object();
  int64_t used = 0;
  for (const auto& [name, places] : record().text_rows) {
    Json list = Json::array();
    for (const RowPlace& place : spread(later(places, since), limits_.texts_per_name)) {
      if (used > limits_.all_text_bytes) break;
      const Json row = row_at(place);
      if (!row.is_object() || !row.contains("text") || !row["text"].is_object() ||
          !row["text"].contains(name))
        continue;
      std::string text =
          row["text"][name].is_string() ? row["text"][name].get<std::string>() : row["text"][name].dump();
      const auto whole = int64_t(text.size());
      if (whole > limits_.text_bytes) text.resize(size_t(limits_.text_bytes));
      Json entry{{"step", place.step}, {"text", std::move(text)}};
      if (whole > limits_.text_bytes) entry["bytes"] = whole;
      used += std::min(whole, limits_.text_bytes);
      list.push_back(std::move(entry));
    }
    if (since == 0 && list.size() < places.size())
      left_out.push_back(some_of(list.size(), places.size(), "texts", name));
    if (!list.empty()) json[name] = std::move(list);
  }
  return json;
}

}  // namespace lunagrad

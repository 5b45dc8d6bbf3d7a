#include "tests/samples/ends.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "runtime/core/dtype_names.h"
#include "runtime/ops.h"
#include "runtime/tape/tape.h"
#include "tests/samples/reference_file.h"
#include "tests/samples/samples.h"

namespace lunagrad::tests {
namespace {

using nlohmann::json;

struct Precision {
  // bits of the significand; exponents of the smallest subnormal and of the first number that is too large
  int bits, least, top;
};

Precision precision(DType type) {
  switch (part_type(type)) {
    case DType::f64:
      return {53, -1074, 1024};
    case DType::f16:
      return {11, -24, 16};
    case DType::bf16:
      return {8, -133, 128};
    default:
      return {24, -149, 128};
  }
}

// The distance from x to the next larger number of the type.
double ulp(double x, const Precision& p) {
  const int exponent = x == 0 ? p.least : std::ilogb(x) - p.bits + 1;
  return std::ldexp(1.0, std::max(exponent, p.least));
}

struct Judge {
  double ulps;
  bool whole, zeros, whole_gradients;

  // The difference that is allowed beside a number of that scale.
  double allowed(double scale, const Precision& p) const { return ulps * ulp(scale, p); }
  bool holds(double got, double exact, double scale, const Precision& p) const {
    if (std::isnan(exact)) return std::isnan(got);
    if (zeros && exact == 0 && got == 0) return std::signbit(exact) == std::signbit(got);
    if (got == exact) return true;
    if (std::isinf(exact) || std::isnan(got)) return false;
    const double bound = allowed(scale, p);
    const double top = std::ldexp(1.0, p.top - 1);  // half of the first number that is too large
    if (std::isinf(got)) return (got > 0) == (exact > 0) && (std::abs(exact) / 2 + bound / 2) >= top;
    return std::abs(got - exact) <= bound;
  }
};

std::string number_text(double x) { return std::isnan(x) ? "nan" : text(x); }

// A device without subnormal numbers treats them as 0, in operands and in intermediate results, so that it
// has no digits below the number 2^24 times the smallest normal one.
bool is_lost(double x, const Precision& p) {
  return x != 0 && std::abs(x) < std::ldexp(1.0, p.least + p.bits + 23);
}

// [type if it is not the case's, offset, sizes ...] as an entry of ReferenceFile: an offset into the array of
// f64 is ~offset.
json expanded(const json& entry) {
  if (!entry.is_array()) return entry;
  const size_t first = entry[0].is_string();
  const int64_t offset = entry[first];
  json shape = json::array();
  for (size_t i = first + 1; i < entry.size(); ++i) shape.push_back(entry[i]);
  return {first ? entry[0] : json("*"), shape, offset < 0 ? "f64" : "f32", offset < 0 ? ~offset : offset};
}

class Comparison {
 public:
  Comparison(const std::string& source, Device& device, bool has_f64, bool has_subnormals)
      : source_(source), device_(device), has_f64_(has_f64), has_subnormals_(has_subnormals) {
    if (std::getenv("LUNAGRAD_ENDS_TABLE"))  // a new table
      table_ = json::array();
    else
      std::ifstream(source + "/tests/reference/ends/differences.json") >> table_;
  }

  EndsReport run(size_t apart) {
    std::vector<std::filesystem::path> files;
    const std::set<std::string> others = {"differences", "left_out", "reasons"};
    for (const auto& entry : std::filesystem::directory_iterator(source_ + "/tests/reference/ends"))
      if (entry.path().extension() == ".json" && !others.count(entry.path().stem()))
        files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    for (const auto& path : files) {
      const ReferenceFile file(path, source_ + "/tests/reference/ends/numbers.safetensors");
      std::map<std::string, size_t> numbers;
      json row;
      for (size_t i = 0; i < file.cases.size(); ++i) {
        // a case without an op has the fields that it lacks from the row before
        if (file.cases[i].contains("op")) row = json::object();
        row.update(file.cases[i]);
        for (const char* const list : {"in", "out", "grad"})
          if (file.cases[i].contains(list))
            for (json& entry : row[list]) entry = expanded(entry);
        const std::string kind = row["op"].get<std::string>() + " " + row["type"].get<std::string>();
        call_ = text(kind, " ", numbers[kind]++);
        report_.ops.insert(row["op"].get<std::string>());
        if (i % apart == 0) one(file, row);
      }
    }
    for (size_t i = 0; i < table_.size(); ++i)
      if (!table_[i]["reason"].is_string())
        report_.unused.push_back("has no reason: " + table_[i].dump());
      else if (apart == 1 && has_subnormals_ && std::getenv("LUNAGRAD_TEST_ALL") && here(table_[i]) &&
               !used_.count(i))
        report_.unused.push_back("does not differ any more: " + table_[i].dump());
    return report_;
  }

 private:
  void one(const ReferenceFile& file, const json& row) {
    const DType type = *dtype_from_name(row["type"].get<std::string>());
    if (part_type(type) == DType::f64 && !has_f64_) return;
    ++report_.cases;
    const Op* op = find_op(row["op"].get<std::string>());
    std::string message;
    try {
      if (!op) fail("there is no op ", row["op"].dump());
      outputs_and_gradients(file, *op, row, type);
    } catch (const Error& error) {
      message = error.what();
    }
    const std::string wanted = row.value("error", "");
    if (wanted.empty() ? !message.empty() : message.find(wanted) == std::string::npos)
      add({call_, "", "", 0, 0, 0, message.empty() ? "no error, expected: " + wanted : message});
  }

  void outputs_and_gradients(const ReferenceFile& file, const Op& op, const json& row, DType type) {
    const json whole = row.value("whole", json(false));
    judge_ = {row.value("ulps", 4.0), whole == true, row.value("zeros", false), whole != false};
    const TensorList operands = file.operands(op, row, type, device_);
    const Operands outputs = apply(op, operands, read_params(op, row));
    if (row.contains("error")) return;
    if (outputs.size() != row["out"].size()) fail(outputs.size(), " outputs, expected ", row["out"].size());
    if (!has_subnormals_ && find_lost(file, op, operands, row, type)) return;
    TensorList roots, seeds;
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (!row["out"][i].is_array()) continue;
      compare(row, operands, text("output ", i), outputs[i], file.tensor(row["out"][i], type), false);
      if (!outputs[i].requires_grad()) continue;
      roots.push_back(outputs[i]);
      seeds.push_back(upstream(outputs[i]));
    }
    if (!row.contains("grad")) return;
    TensorList wanted, expected;
    for (size_t i = 0; i < row["grad"].size(); ++i) {
      if (row["grad"][i].is_null()) continue;
      wanted.push_back(operands[place_of(op, row, i)]);
      expected.push_back(file.tensor(row["grad"][i], type));
    }
    const TensorList gradients =
        roots.empty() ? TensorList(wanted.size()) : grad(roots, wanted, seeds, {.allow_unused = true});
    judge_.zeros = false;
    judge_.whole = judge_.whole_gradients;
    for (size_t i = 0; i < wanted.size(); ++i)
      compare(row, operands, text("gradient ", i),
              gradients[i].defined() ? gradients[i] : zeros_like(wanted[i].detach()), expected[i], true);
  }

  // Whether the device loses numbers of the call. Elements of elementwise ops are left out one by one.
  bool find_lost(const ReferenceFile& file, const Op& op, const TensorList& operands, const json& row,
                 DType type) {
    const Precision p = precision(part_type(type));
    const auto loses = [&](const std::vector<double>& numbers) {
      return std::any_of(numbers.begin(), numbers.end(), [&](double x) { return is_lost(x, p); });
    };
    numbers_.clear();
    for (const Tensor& x : operands)
      if (x.defined() && !x.is_number()) numbers_.push_back(numbers_of(to(x.detach(), cpu_device())));
    if (op.elementwise >= 0) return false;
    for (const char* const list : {"out", "grad"})
      for (const json& entry : row.value(list, json::array()))
        if (entry.is_array() && loses(numbers_of(file.tensor(entry, type)))) return true;
    return std::any_of(numbers_.begin(), numbers_.end(), loses);
  }

  // Whether element i of `count`, a part of a complex number among them, is made of lost numbers.
  bool is_lost_at(size_t i, size_t count, const std::vector<double>& exact, bool complex,
                  const Precision& p) const {
    const auto at = [&](const std::vector<double>& x, size_t place, bool both) {
      return is_lost(x[place], p) || (both && is_lost(x[place ^ 1], p));
    };
    if (at(exact, i, complex)) return true;
    return std::any_of(numbers_.begin(), numbers_.end(), [&](const std::vector<double>& x) {
      return x.size() == 2 * count ? at(x, 2 * i, true) : x.size() == count && at(x, i, complex);
    });
  }

  void compare(const json& row, const TensorList& operands, const std::string& at, const Tensor& got,
               const Tensor& exact, bool gradient) {
    if (!(got.shape() == exact.shape()))
      fail(at, " has the shape ", got.shape(), ", expected ", exact.shape());
    if (got.dtype() != exact.dtype()) fail(at, " has the type ", got.dtype(), ", expected ", exact.dtype());
    const std::vector<double> x = numbers_of(to(got.detach(), cpu_device())), y = numbers_of(exact);
    const bool integral = is_integral(got.dtype()), complex = is_complex(got.dtype());
    const Precision p = precision(got.dtype());
    double largest = 0;
    for (const double value : y)
      if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
    for (size_t i = 0; i < x.size(); ++i) {
      if (gradient && std::isnan(y[i])) continue;
      if (!has_subnormals_ && is_lost_at(i, x.size(), y, complex, p)) continue;
      ++report_.elements;
      // The parts of a complex number are judged by the larger one.
      const double size = complex ? std::max(std::abs(y[i]), std::abs(y[i ^ 1])) : std::abs(y[i]);
      const double scale = judge_.whole ? largest : std::isfinite(size) ? size : 0;
      if (integral ? x[i] == y[i] : judge_.holds(x[i], y[i], scale, p)) continue;
      add({call_, at, operands_at(row, operands, i, x.size()), i, x[i], y[i], ""});
    }
  }

  std::string operands_at(const json& row, const TensorList& operands, size_t element, size_t count) const {
    std::string list;
    for (const Tensor& x : operands) {
      if (!x.defined() || x.is_number() || size_t(x.numel()) != count || is_complex(x.dtype())) continue;
      list += (list.empty() ? "" : ", ") + number_text(numbers_of(to(x.detach(), cpu_device()))[element]);
    }
    return list.empty() || row.contains("params")
               ? list + (list.empty() ? "" : " ") + row.value("params", json::object()).dump()
               : list;
  }

  bool here(const json& entry) const {
    const std::string call = entry["call"];
    const size_t first = call.find(' ') + 1;
    const DType type = *dtype_from_name(call.substr(first, call.rfind(' ') - first));
    if (part_type(type) == DType::f64 && !has_f64_) return false;
    return !entry.contains("device") || entry["device"] == (device_.is_cpu() ? "cpu" : "vulkan");
  }

  // Adds the difference unless the table has it, or a larger one. The table's value of ours is rounded to six
  // digits.
  void add(EndsDifference found) {
    for (size_t i = 0; i < table_.size(); ++i) {
      const json& entry = table_[i];
      if (!here(entry) || entry["call"] != found.call || entry["at"] != found.at) continue;
      const auto place = std::find(entry["elements"].begin(), entry["elements"].end(), found.element);
      if (place == entry["elements"].end()) continue;
      const std::string ours = entry["ours"][size_t(place - entry["elements"].begin())];
      const double value = std::strtod(ours.c_str(), nullptr);
      const double known = std::abs(value - found.exact), now = std::abs(found.got - found.exact);
      if (number_text(found.got) != ours && std::isfinite(known) && !(now <= known + 1e-5 * std::abs(value)))
        continue;
      used_.insert(i);
      return;
    }
    report_.differences.push_back(std::move(found));
  }

  std::string source_, call_;
  Device& device_;
  bool has_f64_, has_subnormals_;
  json table_;
  std::vector<std::vector<double>> numbers_;  // of the call's operands, on a device without subnormal numbers
  std::set<size_t> used_;
  Judge judge_{};
  EndsReport report_;
};

// Writes the differences as rows of the table, without PyTorch's values and reasons.
void write_table(const EndsReport& report, const std::string& path) {
  json rows = json::array();
  for (const EndsDifference& d : report.differences) {
    if (rows.empty() || rows.back()["call"] != d.call || rows.back()["at"] != d.at)
      rows.push_back({{"call", d.call}, {"at", d.at}});
    json& row = rows.back();
    row["elements"].push_back(d.element);
    row["operands"].push_back(d.operands);
    row["ours"].push_back(number_text(d.got));
    row["exact"].push_back(number_text(d.exact));
    if (!d.error.empty()) row["error"] = d.error;
  }
  std::ofstream(path) << rows.dump(1) << "\n";
}

}  // namespace

EndsReport compare_ends(const std::string& source, Device& device, size_t apart, bool has_f64,
                        bool has_subnormals) {
  const EndsReport report = Comparison(source, device, has_f64, has_subnormals).run(apart);
  if (const char* const path = std::getenv("LUNAGRAD_ENDS_TABLE")) write_table(report, path);
  return report;
}

std::string describe(const EndsReport& report) {
  std::string lines;
  for (const EndsDifference& d : report.differences)
    lines += d.error.empty() ? text(d.call, ", ", d.at, ", element ", d.element, " of (", d.operands,
                                    "): ", number_text(d.got), ", exactly ", number_text(d.exact), "\n")
                             : text(d.call, ": ", d.error, "\n");
  for (const std::string& row : report.unused) lines += row + "\n";
  return lines;
}

std::vector<std::string> ops_without_ends(const std::string& source, const std::set<std::string>& covered) {
  json left_out;
  std::ifstream(source + "/tests/reference/ends/left_out.json") >> left_out;
  std::set<std::string> reasons;
  std::vector<std::string> wrong;
  for (const auto& [reason, names] : left_out.items())
    for (const std::string name : names) {
      reasons.insert(name);
      if (covered.count(name)) wrong.push_back(name + " has cases and is left out: " + reason);
      if (!find_op(name)) wrong.push_back(name + " does not exist and is left out: " + reason);
    }
  for (const Op* op : all_ops())
    if (!op->hidden() && !covered.count(op->name) && !reasons.count(op->name))
      wrong.push_back(text(op->name, " has no case: write one in tests/reference/ends/"));
  return wrong;
}

}  // namespace lunagrad::tests

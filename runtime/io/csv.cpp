#include "runtime/io/csv.h"

#include <charconv>
#include <cstdio>

#include "runtime/core/error.h"
#include "runtime/io/atomic_file.h"
#include "runtime/io/format.h"
#include "runtime/io/input_file.h"
#include "runtime/io/read_budget.h"
#include "runtime/ops.h"

namespace lunagrad {

namespace {

// A field for an error text: short, without control characters.
std::string shown_field(std::string_view field) {
  std::string out = "'";
  for (const char c : field.substr(0, 40)) {
    char code[8];
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      std::snprintf(code, sizeof code, "\\x%02x", unsigned(static_cast<unsigned char>(c)));
    else
      std::snprintf(code, sizeof code, "%c", c);
    out += code;
  }
  return out + (field.size() > 40 ? "…'" : "'");
}

class CsvReader {
 public:
  CsvReader(const std::string& path, const CsvOptions& options)
      : path_(path), options_(options), budget_(path) {
    content_ = read_file(path);
    budget_.take(content_.size());
    rest_ = content_;
    if (rest_.substr(0, 3) == "\xef\xbb\xbf") rest_.remove_prefix(3);
    while (!rest_.empty() && (blank(rest_.back()) || rest_.back() == '\n' || rest_.back() == '\r'))
      rest_.remove_suffix(1);
    if (rest_.empty()) complain("the file is empty");
  }

  CsvTable read() {
    CsvTable table;
    if (options_.header) {
      std::string_view line = next_line();
      budget_.take(line.size());
      for (bool more = true; more;) {
        budget_.take(2 * sizeof(std::string));
        table.columns.emplace_back(next_field(line, more));
      }
      columns_ = int64_t(table.columns.size());
      if (rest_.empty()) complain("no row follows the header");
    }
    switch (options_.dtype) {
      case DType::f32:
        table.values = read_rows<float>();
        break;
      case DType::f64:
        table.values = read_rows<double>();
        break;
      case DType::i64:
        table.values = read_rows<int64_t>();
        break;
      default:
        fail("csv: dtype ", options_.dtype, " is not one of f32, f64, i64");
    }
    return table;
  }

 private:
  template <class... Parts>
  [[noreturn]] void complain(const Parts&... parts) const {
    if (line_ == 0) fail_as(ErrorKind::file, path_, ": ", parts...);
    fail_as(ErrorKind::file, path_, ":", line_, ": ", parts...);
  }

  // Whether c is a blank around fields: a tab may also be the delimiter.
  bool blank(char c) const { return (c == ' ' || c == '\t') && c != options_.delimiter; }

  std::string_view next_line() {
    ++line_;
    const size_t end = rest_.find('\n');
    std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    return line;
  }

  std::string_view next_field(std::string_view& line, bool& more) const {
    const size_t end = line.find(options_.delimiter);
    std::string_view field = line.substr(0, end);
    more = end != std::string_view::npos;
    line.remove_prefix(more ? end + 1 : line.size());
    while (!field.empty() && blank(field.front())) field.remove_prefix(1);
    while (!field.empty() && blank(field.back())) field.remove_suffix(1);
    return field;
  }

  template <class T>
  T parse(std::string_view field, int64_t column) const {
    T value{};
    const char* first = field.data();
    const char* last = first + field.size();
    if (first != last && *first == '+' && last - first > 1 && first[1] != '-') ++first;
    const auto [end, error] = std::from_chars(first, last, value);
    if (error == std::errc::result_out_of_range)
      complain("column ", column, ": ", shown_field(field), " does not fit ", dtype_of<T>);
    if (error != std::errc() || end != last) {
      if (field.empty()) complain("column ", column, " is empty");
      const bool names = line_ == 1 && !options_.header;
      complain("column ", column, ": ", shown_field(field), " is not ",
               std::is_integral_v<T> ? "an integer" : "a number",
               names ? " (if the first line names the columns, pass header = true)" : "");
    }
    return value;
  }

  template <class T>
  Tensor read_rows() {
    std::vector<T> values;
    int64_t rows = 0;
    while (!rest_.empty()) {
      std::string_view line = next_line();
      if (line.empty()) complain("the line is empty");
      std::string_view left = line;
      int64_t count = 0;
      for (bool more = true; more;) {
        const std::string_view field = next_field(left, more);
        ++count;
        // In a row that is both too long and not numeric, the length is the likelier mistake: keep counting.
        if (columns_ && count > columns_) continue;
        if (values.size() == values.capacity())
          budget_.take(std::max<size_t>(values.capacity(), 1) * sizeof(T));  // the vector doubles
        values.push_back(parse<T>(field, count));
      }
      if (!columns_) columns_ = count;
      if (count != columns_) complain(columns_, " columns expected, ", count, " found");
      if (++rows == 1) {
        const size_t likely = size_t(columns_) * (rest_.size() / (line.size() + 1) + 2);
        budget_.take(likely * sizeof(T));
        values.reserve(likely);
      }
    }
    return Tensor::from<T>(values, {rows, columns_});
  }

  std::string path_;
  const CsvOptions& options_;
  ReadBudget budget_;
  std::string content_;
  std::string_view rest_;
  int64_t line_ = 0;
  int64_t columns_ = 0;
};

template <class T>
void append(std::string& out, T value) {
  char digits[64];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value);
  out.append(digits, size_t(end - digits));
}

template <class T>
void append_rows(std::string& out, const Tensor& values, int64_t columns, char delimiter) {
  const std::vector<T> data = values.to_vector<T>();
  for (size_t i = 0; i < data.size(); ++i) {
    append(out, data[i]);
    out += (int64_t(i) + 1) % columns == 0 ? '\n' : delimiter;
  }
}

}  // namespace

CsvTable load_csv(const std::string& path, const CsvOptions& options) {
  return CsvReader(path, options).read();
}

void save_csv(const std::string& path, const Tensor& values, const std::vector<std::string>& columns,
              char delimiter) {
  if (values.ndim() != 1 && values.ndim() != 2)
    fail("csv: a table has 1 or 2 dims (got shape ", values.shape(), ")");
  const int64_t width = values.ndim() == 2 ? values.size(1) : 1;
  if (!columns.empty() && int64_t(columns.size()) != width)
    fail("csv: ", columns.size(), " column names for ", width, " columns");
  std::string out;
  for (size_t i = 0; i < columns.size(); ++i) out += (i ? std::string(1, delimiter) : "") + columns[i];
  if (!columns.empty()) out += '\n';
  if (is_integral(values.dtype()))
    append_rows<int64_t>(out, values, width, delimiter);
  else if (values.dtype() == DType::f64)
    append_rows<double>(out, values, width, delimiter);
  else
    append_rows<float>(out, values, width, delimiter);
  write_file(path, out);
}

namespace {

FileInfo describe_csv(const std::string& path) {
  CsvTable table;
  try {
    table = load_csv(path, {.dtype = DType::f64});
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::file) throw;
    try {
      table = load_csv(path, {.header = true, .dtype = DType::f64});
    } catch (const Error&) {
      throw error;  // the error of reading without a header: the likelier mistake
    }
  }
  FileInfo out{.format = "csv"};
  const uint64_t rows = uint64_t(table.values.size(0)), columns = uint64_t(table.values.size(1));
  out.arrays.push_back({"", "numbers", {rows, columns}, InputFile(path).size()});
  std::string names;
  for (const std::string& name : table.columns) names += (names.empty() ? "" : ", ") + name;
  if (!names.empty()) out.metadata["columns"] = names;
  return out;
}

// Numbers in a text have no dtype: they are read as the closest of the three dtypes that load_csv knows.
Tensor load_table(const std::string& path, const ReadOptions& options) {
  CsvOptions csv{.header = options.header};
  if (options.dtype)
    csv.dtype = is_integral(*options.dtype)    ? DType::i64
                : *options.dtype == DType::f64 ? DType::f64
                                               : DType::f32;
  return load_csv(path, csv).values;
}

}  // namespace

FileFormat csv_format() {
  return {.name = "csv",
          .about = "A table of numbers as text.",
          .endings = {".csv"},
          .describe = describe_csv,
          .load = load_table,
          .save = [](const std::string& path, const Tensor& values) { save_csv(path, values); },
          .takes_options = true};
}

}  // namespace lunagrad

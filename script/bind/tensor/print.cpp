#include "script/bind/tensor/print.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

#include "runtime/batching/batched.h"
#include "runtime/ops.h"
#include "runtime/tape/tape.h"

namespace lunagrad {
namespace {

std::string format(double value, std::chars_format format, int precision) {
  char text[400];
  const auto end = std::to_chars(text, text + sizeof text, value, format, precision).ptr;
  return std::string(text, end);
}

std::string not_finite(double value) { return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf"; }

// One format for all floats of a tensor, so that they align.
class FloatFormat {
 public:
  // Chooses the format from the shown values; zeros, NaN and Inf do not count. Scientific if the options say
  // so. Otherwise scientific if the largest magnitude is at least 10^8, or if not all values are whole and
  // the smallest is below 10^-4 or the largest is more than 1000 times the smallest.
  FloatFormat(const std::vector<double>& values, const PrintOptions& options)
      : precision_(options.precision), scientific_(options.scientific.value_or(false)) {
    double largest = 0, smallest = INFINITY;
    for (const double value : values) {
      const double size = std::abs(value);
      if (!std::isfinite(size)) continue;
      whole_ &= size == std::floor(size);
      if (size == 0) continue;
      largest = std::max(largest, size);
      smallest = std::min(smallest, size);
    }
    if (largest == 0 || options.scientific) return;
    scientific_ = largest >= 1e8 || (!whole_ && (largest / smallest > 1000 || smallest < 1e-4));
  }

  std::string operator()(double value) const {
    if (!std::isfinite(value)) return not_finite(value);
    if (scientific_) return format(value, std::chars_format::scientific, precision_);
    if (whole_) return format(value, std::chars_format::fixed, 0) + ".";
    return format(value, std::chars_format::fixed, precision_);
  }

 private:
  int precision_;
  bool whole_ = true;
  bool scientific_;
};

// Prints the elements of a CPU tensor, row by row.
class Printer {
 public:
  Printer(const Tensor& x, const PrintOptions& options)
      : x_(x), options_(options), summarised_(x.numel() > options.threshold) {
    collect(0, 0, [&](int64_t offset) { offsets_.push_back(offset); });
    write_cells();
    for (const std::string& cell : cells_) width_ = std::max(width_, cell.size());
  }

  std::string print(int indent) {
    next_ = 0;
    return print_dim(0, indent);
  }

 private:
  // The indices of a dim to show; -1 marks the gap in a summarised dim.
  std::vector<int64_t> shown(int dim) const {
    const int64_t size = x_.size(dim), edge = options_.edge_items;
    std::vector<int64_t> positions;
    for (int64_t i = 0; i < size; ++i) {
      if (summarised_ && size > 2 * edge && i == edge) {
        positions.push_back(-1);
        i = size - edge;
      }
      positions.push_back(i);
    }
    return positions;
  }

  template <class F>
  void collect(int dim, int64_t offset, F&& visit) const {
    if (dim == x_.ndim()) return visit(offset);
    for (const int64_t i : shown(dim))
      if (i >= 0) collect(dim + 1, offset + i * x_.strides()[dim], visit);
  }

  void write_cells() {
    visit_any_dtype(x_.dtype(), [&]<class T>() {
      const T* const data = x_.data<T>();
      if constexpr (std::is_same_v<T, bool>) {
        for (const int64_t at : offsets_) cells_.push_back(data[at] ? "true" : "false");
      } else if constexpr (std::is_integral_v<T>) {
        for (const int64_t at : offsets_) cells_.push_back(std::to_string(data[at]));
      } else if constexpr (is_complex_v<T>) {
        std::vector<double> parts;
        for (const int64_t at : offsets_) {
          parts.push_back(double(data[at].real()));
          parts.push_back(double(data[at].imag()));
        }
        write_complex(parts);
      } else {
        std::vector<double> values;
        for (const int64_t at : offsets_) values.push_back(convert<double>(data[at]));
        const FloatFormat write(values, options_);
        for (const double value : values) cells_.push_back(write(value));
      }
    });
  }

  // "1.0000 - 2.0000i"; all real parts have the same width, and so have all imaginary parts.
  void write_complex(const std::vector<double>& parts) {
    const FloatFormat write(parts, options_);
    std::vector<std::string> real, imaginary;
    size_t real_width = 0, imaginary_width = 0;
    for (size_t i = 0; i < parts.size(); i += 2) {
      real.push_back(write(parts[i]));
      imaginary.push_back(write(std::abs(parts[i + 1])));
      real_width = std::max(real_width, real.back().size());
      imaginary_width = std::max(imaginary_width, imaginary.back().size());
    }
    for (size_t i = 0; i < real.size(); ++i)
      cells_.push_back(std::string(real_width - real[i].size(), ' ') + real[i] +
                       (std::signbit(parts[2 * i + 1]) ? " - " : " + ") +
                       std::string(imaginary_width - imaginary[i].size(), ' ') + imaginary[i] + "i");
  }

  std::string next_cell() {
    const std::string& cell = cells_[next_++];
    return std::string(width_ - cell.size(), ' ') + cell;
  }

  std::string print_dim(int dim, int indent) {
    if (dim == x_.ndim()) return cells_[next_++];
    if (dim + 1 == x_.ndim()) return print_row(dim, indent);
    const std::string gap =
        "," + std::string(size_t(x_.ndim() - dim - 1), '\n') + std::string(size_t(indent) + 1, ' ');
    std::string text = "[";
    bool first = true;
    for (const int64_t i : shown(dim)) {
      if (!first) text += gap;
      first = false;
      text += i < 0 ? "..." : print_dim(dim + 1, indent + 1);
    }
    return text + "]";
  }

  std::string print_row(int dim, int indent) {
    const size_t per_line = std::max<size_t>(
        1, (size_t(options_.line_width) - std::min(size_t(indent), size_t(40))) / (width_ + 2));
    std::string text = "[";
    size_t on_line = 0;
    for (const int64_t i : shown(dim)) {
      if (on_line == per_line) {
        text += ",\n" + std::string(size_t(indent) + 1, ' ');
        on_line = 0;
      } else if (on_line) {
        text += ", ";
      }
      text += i < 0 ? "..." : next_cell();
      ++on_line;
    }
    return text + "]";
  }

  const Tensor& x_;
  const PrintOptions& options_;
  const bool summarised_;
  std::vector<int64_t> offsets_;
  std::vector<std::string> cells_;
  size_t width_ = 0;
  size_t next_ = 0;
};

}  // namespace

PrintOptions& print_options() {
  thread_local PrintOptions options;
  return options;
}

std::string print_tensor(const Tensor& x, const PrintOptions& options) {
  const NoGrad off;
  if (is_batched(x))
    return lunagrad::text("tensor(one of a batch of ", batch_value(x).size(0), " in vmap, shape=", x.shape(),
                          ", dtype=", x.dtype(), ", device=", x.device().name(), ")");
  context().check_may_read();
  x.storage().check_whole("tostring");
  const Tensor values = to(x.detach(), cpu_device());
  constexpr int kIndent = 7;  // the width of "tensor("
  // A tensor without elements may have any number of empty rows, so it is printed as [].
  std::string text = "tensor(" + (x.numel() == 0 ? "[]" : Printer(values, options).print(kIndent));
  text += lunagrad::text(", shape=", x.shape(), ", dtype=", x.dtype(), ", device=", x.device().name());
  if (!x.is_leaf())
    text += std::string(", grad_fn=<") + x.node()->label() + ">";
  else if (x.requires_grad())
    text += ", requires_grad=true";
  return text + ")";
}

}  // namespace lunagrad

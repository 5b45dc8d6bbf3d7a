#include "script/inspect/tensor_slice.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "runtime/ops.h"

namespace lunagrad {
namespace {

constexpr int64_t kMostRead = 1 << 22;  // elements to read, in a slice or in all pictures together
constexpr int64_t kMostCells = 1 << 20;
constexpr int64_t kLook = 1 << 14;            // elements between two checks for a requested stop
constexpr int64_t kMostMagnitudes = 1 << 24;  // complex elements whose magnitudes are copied for statistics

// Two dims of a tensor: element (r, c) lies at offset + r * row_stride + c * column_stride.
struct Plane {
  int row_dim = -1, column_dim = -1;
  int64_t rows = 1, columns = 1, elements = 1;
  int64_t row_stride = 0, column_stride = 0, offset = 0;
};

Plane plane_of(const Tensor& x, const SliceQuery& query) {
  Plane plane;
  const int dims = x.ndim();
  const auto valid = [dims](int dim) { return dim >= 0 && dim < dims ? dim : -1; };
  plane.row_dim = valid(query.row_dim);
  plane.column_dim = valid(query.column_dim);
  if (plane.row_dim == plane.column_dim) plane.row_dim = -1;
  if (plane.row_dim < 0 && plane.column_dim < 0) {
    plane.column_dim = dims - 1;
    plane.row_dim = dims > 1 ? dims - 2 : -1;
  }
  plane.offset = x.offset();
  for (int d = 0; d < dims; ++d) {
    if (d == plane.row_dim) {
      plane.rows = x.size(d);
      plane.row_stride = x.strides()[d];
    } else if (d == plane.column_dim) {
      plane.columns = x.size(d);
      plane.column_stride = x.strides()[d];
    } else {
      const int64_t at = size_t(d) < query.at.size() ? query.at[size_t(d)] : 0;
      plane.offset += std::clamp<int64_t>(at, 0, std::max<int64_t>(x.size(d) - 1, 0)) * x.strides()[d];
    }
  }
  plane.elements = x.numel() == 0 ? 0 : plane.rows * plane.columns;
  const int64_t wrap = query.wrap;
  if (plane.rows == 1 && wrap > 0 && plane.columns > wrap) {
    plane.rows = (plane.columns + wrap - 1) / wrap;
    plane.row_stride = wrap * plane.column_stride;
    plane.columns = wrap;
  }
  return plane;
}

// A subsampled rectangle of a plane, copied to the CPU.
struct Window {
  int64_t first_row = 0, first_column = 0, rows = 0, columns = 0;
  int64_t row_step = 1, column_step = 1;
  Tensor host;  // [rows / row_step, columns / column_step], rounded up
};

// Chooses steps that leave at least one element in every cell and read about `most` elements.
void choose_steps(Window& window, int64_t cell_rows, int64_t cell_columns, int64_t most) {
  if (window.rows == 0 || window.columns == 0 || window.rows <= most / window.columns) return;
  const auto quotient = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
  const int64_t most_columns = std::max<int64_t>(most / std::min(window.rows, cell_rows * 4), 1);
  window.column_step = std::clamp<int64_t>(quotient(window.columns, most_columns), 1,
                                           std::max<int64_t>(window.columns / cell_columns, 1));
  const int64_t columns = quotient(window.columns, window.column_step);
  window.row_step = std::clamp<int64_t>(quotient(window.rows, std::max<int64_t>(most / columns, 1)), 1,
                                        std::max<int64_t>(window.rows / cell_rows, 1));
}

Tensor plane_view(const Tensor& x, const Shape& shape, const Strides& strides, int64_t offset) {
  return Tensor(x.storage_ref(), LayoutRef(new Layout(shape, strides)), offset, x.dtype());
}

void fetch(Window& window, const Tensor& x, const Plane& plane) {
  const NoGrad off;
  int64_t rows = window.rows;
  // When a long row is shown as several rows, the tensor may end inside the last of them. Readers on the CPU
  // do not touch the memory after it, but a device's copy would.
  const bool overhangs = plane.elements < plane.rows * plane.columns && window.first_row + rows == plane.rows;
  if (overhangs && !x.device().is_cpu()) {
    if (plane.elements <= kMostRead) {
      const Tensor line =
          to(plane_view(x, {plane.elements}, {plane.column_stride}, plane.offset), cpu_device());
      const Plane dense{-1, -1, plane.rows, plane.columns, plane.elements, plane.columns, 1, 0};
      return fetch(window, line, dense);
    }
    --rows;
  }
  const Shape shape{(rows + window.row_step - 1) / window.row_step,
                    (window.columns + window.column_step - 1) / window.column_step};
  const Strides strides{plane.row_stride * window.row_step, plane.column_stride * window.column_step};
  const int64_t offset =
      plane.offset + window.first_row * plane.row_stride + window.first_column * plane.column_stride;
  window.host = to(plane_view(x, shape, strides, offset), cpu_device());
}

double part_of(std::complex<double> z, ComplexPart part) {
  return part == ComplexPart::magnitude ? std::abs(z) : part == ComplexPart::real ? z.real() : z.imag();
}

template <class T>
double number_of(const T& value, ComplexPart part) {
  if constexpr (is_complex_v<T>)
    return part_of(std::complex<double>(value), part);
  else
    return convert<double>(value);
}

// Whether a cell shows `value` instead of its current one: NaN and infinities take precedence.
bool is_stronger(double value, double shown) {
  if (std::isnan(shown)) return false;
  if (!std::isfinite(value)) return std::isnan(value) || std::isfinite(shown);
  return std::isfinite(shown) && std::abs(value) > std::abs(shown);
}

int64_t cell_of(int64_t i, int64_t cells, int64_t whole) { return i * cells / whole; }

void pool(SliceView& view, const Window& window, const Plane& plane, ComplexPart part,
          const std::stop_token& stop) {
  view.cells.assign(size_t(view.cell_rows * view.cell_columns), 0);
  std::vector<char> filled(view.cells.size());
  const int64_t columns = window.host.size(1);
  std::vector<int64_t> cell_column(static_cast<size_t>(columns));
  for (int64_t c = 0; c < columns; ++c)
    cell_column[size_t(c)] = cell_of(c * window.column_step, view.cell_columns, window.columns);
  const bool wrapped = plane.elements < plane.rows * plane.columns;
  visit_any_dtype(window.host.dtype(), [&]<class T>() {
    const T* const data = static_cast<const T*>(window.host.raw());
    const Strides& strides = window.host.strides();
    int64_t looked = 0;
    for (int64_t r = 0; r < window.host.size(0); ++r) {
      const int64_t row = window.first_row + r * window.row_step;
      const int64_t cell_row = cell_of(r * window.row_step, view.cell_rows, window.rows) * view.cell_columns;
      for (int64_t c = 0; c < columns; ++c) {
        if (++looked % kLook == 0 && stop.stop_requested())
          fail_as(ErrorKind::cancelled, "inspect: no longer wanted");
        if (wrapped && row * plane.columns + window.first_column + c * window.column_step >= plane.elements)
          break;
        const double value = number_of(data[r * strides[0] + c * strides[1]], part);
        const size_t cell = size_t(cell_row + cell_column[size_t(c)]);
        if (!filled[cell] || is_stronger(value, view.cells[cell])) view.cells[cell] = value;
        filled[cell] = 1;
      }
    }
  });
}

template <class T>
std::string exact_text(const T& value) {
  if constexpr (is_complex_v<T>) {
    const std::string imaginary = exact_text(value.imag());
    return exact_text(value.real()) +
           (imaginary[0] == '-' ? " - " + imaginary.substr(1) : " + " + imaginary) + "i";
  } else if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return exact_text(float(value));
  } else {
    char buffer[40];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, value);
    return std::string(buffer, end.ptr);
  }
}

// One element of the plane, on the CPU.
Tensor element(const Tensor& x, const Plane& plane, int64_t row, int64_t column) {
  const int64_t offset = plane.offset + row * plane.row_stride + column * plane.column_stride;
  const NoGrad off;
  return to(Tensor(x.storage_ref(), Layout::contiguous({}), offset, x.dtype()), cpu_device());
}

// A part of a complex tensor as a real tensor: a view, or a copy for magnitudes.
Tensor real_tensor(const Tensor& x, ComplexPart part) {
  const NoGrad off;
  if (!is_complex(x.dtype())) return x;
  if (part == ComplexPart::magnitude) return abs(x);
  Strides strides = x.strides();
  for (int d = 0; d < x.ndim(); ++d) strides[d] *= 2;
  return Tensor(x.storage_ref(), LayoutRef(new Layout(x.shape(), strides)),
                2 * x.offset() + (part == ComplexPart::imaginary), part_type(x.dtype()));
}

void add_statistics(SliceView& view, const Tensor& x, ComplexPart part, const std::stop_token& stop) {
  if (is_complex(x.dtype()) && part == ComplexPart::magnitude && x.numel() > kMostMagnitudes) {
    view.note = "statistics of so many magnitudes are not made; choose the real or the imaginary part";
    return;
  }
  view.statistics = statistics(real_tensor(x, part), stop);
  view.has_statistics = true;
}

// An element as a Lua literal.
template <class T>
std::string lua_text(const T& value) {
  if constexpr (std::is_floating_point_v<T> || std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    const auto number = convert<double>(value);
    if (std::isnan(number)) return "0/0";
    if (std::isinf(number)) return number > 0 ? "math.huge" : "-math.huge";
    std::string written = exact_text(value);
    return written.find_first_of(".e") == written.npos ? written + ".0" : written;
  } else if constexpr (is_complex_v<T>) {
    return "{" + lua_text(value.real()) + ", " + lua_text(value.imag()) + "}";
  } else {
    return exact_text(value);
  }
}

// Reads about `most` elements.
SliceView read_some(const Tensor& x, const SliceQuery& query, int64_t most, const std::stop_token& stop) {
  x.storage().check_whole("inspect");
  const Plane plane = plane_of(x, query);
  SliceView view;
  view.available = true;
  view.shape = {x.shape().begin(), x.shape().end()};
  view.strides = {x.strides().begin(), x.strides().end()};
  view.dtype = dtype_name(x.dtype());
  view.device = x.device().name();
  view.count = x.numel();
  view.row_dim = plane.row_dim;
  view.column_dim = plane.column_dim;
  view.rows = plane.rows;
  view.columns = plane.columns;
  view.elements = plane.elements;
  if (query.statistics) add_statistics(view, x, query.part, stop);
  if (plane.elements == 0) return view;

  Window window;
  window.first_row = std::clamp<int64_t>(query.first_row, 0, plane.rows - 1);
  window.first_column = std::clamp<int64_t>(query.first_column, 0, plane.columns - 1);
  const auto extent = [](int64_t wanted, int64_t left) { return wanted > 0 ? std::min(wanted, left) : left; };
  window.rows = extent(query.rows, plane.rows - window.first_row);
  window.columns = extent(query.columns, plane.columns - window.first_column);
  view.first_row = window.first_row;
  view.first_column = window.first_column;
  view.shown_rows = window.rows;
  view.shown_columns = window.columns;
  view.cell_rows = std::clamp<int64_t>(query.most_rows, 1, std::min(window.rows, kMostCells));
  view.cell_columns =
      std::clamp<int64_t>(query.most_columns, 1, std::min(window.columns, kMostCells / view.cell_rows));
  choose_steps(window, view.cell_rows, view.cell_columns, most);
  view.every = window.row_step * window.column_step;
  fetch(window, x, plane);
  pool(view, window, plane, query.part, stop);

  view.pick = query.pick;
  if (query.pick) {
    const auto [row, column] = *query.pick;
    if (row >= 0 && row < plane.rows && column >= 0 && column < plane.columns &&
        row * plane.columns + column < plane.elements)
      visit_any_dtype(
          x.dtype(), [&]<class T>() { view.picked = exact_text(*element(x, plane, row, column).data<T>()); });
  }
  return view;
}

}  // namespace

SliceView read_slice(const Tensor& x, const SliceQuery& query, std::stop_token stop) {
  return read_some(x, query, kMostRead, stop);
}

TileView read_tiles(const Tensor& x, const TileQuery& query, std::stop_token stop) {
  x.storage().check_whole("inspect");
  TileView view;
  const int dims = x.ndim();
  if (dims < 2) {
    view.reason = "a picture has at least two dims";
    return view;
  }
  SliceQuery slice;
  slice.statistics = false;
  const bool given = query.row_dim >= 0 && query.column_dim >= 0 && query.row_dim < dims &&
                     query.column_dim < dims && query.row_dim != query.column_dim;
  slice.row_dim = given ? query.row_dim : dims - 2;
  slice.column_dim = given ? query.column_dim : dims - 1;
  slice.most_rows = slice.most_columns = std::max<int64_t>(query.most_pixels, 1);
  const int channel = query.channel_dim;
  const bool colored =
      channel >= 0 && channel < dims && channel != slice.row_dim && channel != slice.column_dim;
  if (colored && x.size(channel) != 3) {
    view.reason = text("dim ", channel + 1, " has size ", x.size(channel), "; red, green and blue are 3");
    return view;
  }
  view.available = true;
  view.channels = colored ? 3 : 1;
  view.height = x.size(slice.row_dim);
  view.width = x.size(slice.column_dim);
  view.tiles = view.height > 0 && view.width > 0 ? x.numel() / (view.height * view.width * view.channels) : 0;
  view.first = std::clamp<int64_t>(query.first, 0, std::max<int64_t>(view.tiles - 1, 0));
  view.shown = std::min(std::max<int64_t>(query.most, 0), view.tiles - view.first);
  for (int64_t tile = view.first; tile < view.first + view.shown; ++tile) {
    slice.at.assign(size_t(dims), 0);
    int64_t rest = tile;
    std::vector<int64_t> place;
    for (int d = dims - 1; d >= 0; --d) {
      if (d == slice.row_dim || d == slice.column_dim || (colored && d == channel)) continue;
      slice.at[size_t(d)] = rest % x.size(d);
      place.insert(place.begin(), rest % x.size(d));
      rest /= x.size(d);
    }
    view.at.push_back(std::move(place));
    for (int c = 0; c < view.channels; ++c) {
      if (colored) slice.at[size_t(channel)] = c;
      const SliceView cells = read_some(x, slice, kMostRead / (view.shown * view.channels), stop);
      view.pixel_rows = cells.cell_rows;
      view.pixel_columns = cells.cell_columns;
      view.pixels.insert(view.pixels.end(), cells.cells.begin(), cells.cells.end());
    }
  }
  return view;
}

std::string print_slice(const Tensor& x, const SliceQuery& query, SliceFormat format) {
  x.storage().check_whole("inspect");
  SliceQuery flat = query;
  flat.wrap = 0;
  const Plane plane = plane_of(x, flat);
  if (plane.elements > kMostPrinted)
    fail("copy: the slice has ", plane.elements, " elements, more than ", kMostPrinted,
         "; save it as a .npy file");
  Window window;
  window.rows = plane.elements ? plane.rows : 0;
  window.columns = plane.elements ? plane.columns : 0;
  if (plane.elements) fetch(window, x, plane);
  const bool lua = format == SliceFormat::lua;
  const bool matrix = plane.row_dim >= 0, vector = plane.column_dim >= 0;
  std::string text;
  visit_any_dtype(x.dtype(), [&]<class T>() {
    const auto at = [&](int64_t r, int64_t c) -> const T& {
      return static_cast<const T*>(
          window.host.raw())[r * window.host.strides()[0] + c * window.host.strides()[1]];
    };
    for (int64_t r = 0; r < window.rows; ++r) {
      if (lua && r > 0) text += ",\n  ";
      if (lua && matrix) text += "{";
      for (int64_t c = 0; c < window.columns; ++c) {
        if (c > 0) text += lua ? ", " : ",";
        text += lua ? lua_text(at(r, c)) : exact_text(at(r, c));
      }
      if (lua && matrix) text += "}";
      if (!lua) text += "\n";
    }
  });
  if (!lua) return text;
  const std::string options = lunagrad::text(
      "{dtype = \"", is_complex(x.dtype()) ? dtype_name(part_type(x.dtype())) : dtype_name(x.dtype()), "\"}");
  const std::string made = "lg.tensor(" + (vector ? "{" + text + "}" : text) + ", " + options + ")";
  return is_complex(x.dtype()) ? made + ":view_as_complex()" : made;
}

}  // namespace lunagrad

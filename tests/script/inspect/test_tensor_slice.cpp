// Slices of tensors for viewers, compared with the elements.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>

#include "runtime/core/error.h"
#include "runtime/ops.h"
#include "script/inspect/tensor_slice.h"

using namespace lunagrad;

namespace {

Tensor counting(const Shape& shape, DType dtype = DType::f32) {
  return to(reshape(arange(0, double(numel(shape)), 1, DType::f64), shape), dtype);
}

double at(const Tensor& x, const std::vector<int64_t>& place) {
  Tensor element = x;
  for (const int64_t i : place) element = select(element, 0, i);
  return element.item();
}

SliceQuery exact() {
  SliceQuery query;
  query.most_rows = query.most_columns = 1 << 20;
  return query;
}

}  // namespace

TEST_CASE("a slice of any two dims shows the right elements for any strides") {
  const Tensor dense = counting({3, 4, 5, 2});
  const Tensor turned = permute(counting({2, 5, 4, 3}), {3, 2, 1, 0});
  for (const Tensor& x : {dense, turned})
    for (int rows = 0; rows < 4; ++rows)
      for (int columns = 0; columns < 4; ++columns) {
        if (rows == columns) continue;
        CAPTURE(rows);
        CAPTURE(columns);
        SliceQuery query = exact();
        query.row_dim = rows;
        query.column_dim = columns;
        query.at = {2, 1, 3, 1};
        const SliceView view = read_slice(x, query);
        REQUIRE(view.available);
        REQUIRE(view.cells.size() == size_t(x.size(rows) * x.size(columns)));
        for (int64_t r = 0; r < x.size(rows); ++r)
          for (int64_t c = 0; c < x.size(columns); ++c) {
            std::vector<int64_t> place = query.at;
            place[size_t(rows)] = r;
            place[size_t(columns)] = c;
            CHECK(view.cells[size_t(r * x.size(columns) + c)] == at(x, place));
          }
      }
}

TEST_CASE("cells of several elements show the largest magnitude, and NaN or infinity first") {
  const int64_t rows = 37, columns = 53;
  std::vector<double> values(size_t(rows * columns));
  for (size_t i = 0; i < values.size(); ++i) values[i] = std::sin(double(i) * 12.9898) * 100;
  values[5 * 53 + 7] = NAN;
  values[20 * 53 + 40] = -INFINITY;
  const Tensor x = Tensor::from<double>(values, {rows, columns});
  for (const auto& [cell_rows, cell_columns] :
       {std::pair<int64_t, int64_t>{10, 10}, {1, 53}, {37, 1}, {7, 50}}) {
    SliceQuery query;
    query.first_row = 2;
    query.first_column = 3;
    query.rows = 30;
    query.columns = 45;
    query.most_rows = cell_rows;
    query.most_columns = cell_columns;
    const SliceView view = read_slice(x, query);
    REQUIRE(view.cell_rows == std::min<int64_t>(cell_rows, 30));
    REQUIRE(view.cell_columns == std::min<int64_t>(cell_columns, 45));
    std::vector<double> expected(size_t(view.cell_rows * view.cell_columns));
    std::vector<bool> filled(expected.size());
    for (int64_t r = 0; r < 30; ++r)
      for (int64_t c = 0; c < 45; ++c) {
        const double value = values[size_t((r + 2) * 53 + c + 3)];
        const size_t cell = size_t(r * view.cell_rows / 30 * view.cell_columns + c * view.cell_columns / 45);
        const double shown = expected[cell];
        const auto rank = [](double v) {
          return std::isnan(v) ? 3e300 : std::isinf(v) ? 2e300 : std::abs(v);
        };
        if (!filled[cell] || rank(value) > rank(shown)) expected[cell] = value;
        filled[cell] = true;
      }
    for (size_t i = 0; i < expected.size(); ++i) {
      CAPTURE(i);
      if (std::isnan(expected[i]))
        CHECK(std::isnan(view.cells[i]));
      else
        CHECK(view.cells[i] == expected[i]);
    }
  }
}

TEST_CASE("2^30 elements of an expanded tensor are read without a copy") {
  const Tensor huge = expand(reshape(counting({1024}), {1, 1024}), {1 << 20, 1024});
  REQUIRE(huge.numel() == int64_t(1) << 30);
  const size_t before = cpu_device().memory().peak;
  SliceQuery query;
  query.statistics = false;
  query.pick = {{1 << 19, 700}};
  const std::clock_t start = std::clock();
  const SliceView view = read_slice(huge, query);
  const double seconds = double(std::clock() - start) / CLOCKS_PER_SEC;  // of the processor
  MESSAGE("a slice of 2^30 elements took " << 1e3 * seconds << " ms, one of " << view.every << " looked at");
  CHECK(seconds < 1);
  CHECK(view.available);
  CHECK(view.every > 1);
  CHECK(view.cells.size() == 256 * 256);
  CHECK(view.picked == "700");
  CHECK(view.cells.back() > 1015);  // the last cell covers columns 1020 to 1023
  CHECK(cpu_device().memory().peak < before + (size_t(64) << 20));
}

TEST_CASE("statistics read elements in place, and end when they are cancelled") {
  const Tensor x = counting({300, 700});
  const Tensor turned = transpose(x, 0, 1);
  const Statistics plain = statistics(x), strided = statistics(turned);
  CHECK(strided.count == plain.count);
  CHECK(strided.mean == doctest::Approx(plain.mean));
  CHECK(strided.std == doctest::Approx(plain.std));
  CHECK(strided.counts == plain.counts);
  const Statistics wide = statistics(expand(reshape(counting({1000}), {1, 1000}), {5000, 1000}));
  CHECK(wide.count == 5000000);
  CHECK(wide.mean == doctest::Approx(499.5));
  CHECK(wide.zeros == 5000);

  const Tensor huge = expand(reshape(counting({1024}), {1, 1024}), {1 << 20, 1024});
  std::stop_source stop;
  stop.request_stop();
  CHECK_THROWS_WITH_AS(statistics(huge, stop.get_token()), "statistics: no longer wanted", Error);
}

TEST_CASE("every type is shown, and one element exactly") {
  for (const DType dtype :
       {DType::u8, DType::i32, DType::i64, DType::f16, DType::bf16, DType::f32, DType::f64}) {
    CAPTURE(dtype);
    SliceQuery query = exact();
    query.pick = {{1, 2}};
    const SliceView view = read_slice(counting({2, 3}, dtype), query);
    CHECK(view.cells == std::vector<double>{0, 1, 2, 3, 4, 5});
    CHECK(view.picked == "5");
    CHECK(view.statistics.max == 5);
  }
  SliceQuery query;
  query.pick = {{0, 0}};
  const int64_t large = (int64_t(1) << 53) + 1;  // more than a double holds
  CHECK(read_slice(Tensor::from<int64_t>(std::vector<int64_t>{large}, {1}), query).picked ==
        std::to_string(large));
  CHECK(read_slice(to(counting({1}), DType::boolean), query).picked == "false");

  const std::vector<std::complex<double>> numbers = {{3, 4}, {-1, 0}};
  const Tensor z = Tensor::from<std::complex<double>>(numbers, {2});
  CHECK(read_slice(z, query).cells == std::vector<double>{5, 1});
  CHECK(read_slice(z, query).picked == "3 + 4i");
  query.part = ComplexPart::imaginary;
  CHECK(read_slice(z, query).cells == std::vector<double>{4, 0});
  CHECK(read_slice(z, query).statistics.max == 4);
}

TEST_CASE("empty tensors, tensors of one element, and of only NaN") {
  const SliceView none = read_slice(counting({0, 3}), {});
  CHECK(none.available);
  CHECK(none.count == 0);
  CHECK(none.cells.empty());
  CHECK(read_slice(counting({}), {}).cells == std::vector<double>{0});
  const SliceView nan = read_slice(full({4, 4}, NAN), {});
  CHECK(nan.statistics.nans == 16);
  CHECK(nan.statistics.finite() == 0);
  CHECK(std::isnan(nan.cells[0]));
}

TEST_CASE("a long vector is wrapped into rows, the last one short") {
  SliceQuery query = exact();
  query.wrap = 32;
  query.pick = {{3, 3}};
  const SliceView view = read_slice(counting({100}), query);
  CHECK(view.rows == 4);
  CHECK(view.columns == 32);
  CHECK(view.elements == 100);
  CHECK(view.cells[3 * 32 + 3] == 99);
  CHECK(view.picked == "99");
  query.pick = {{3, 4}};  // past the end
  CHECK(read_slice(counting({100}), query).picked.empty());
}

TEST_CASE("tiles are slices of the last two dims, or of any two, in colour when a dim holds it") {
  const Tensor x = counting({4, 3, 5, 6});
  TileQuery query;
  query.first = 2;
  query.most = 3;
  TileView view = read_tiles(x, query);
  REQUIRE(view.available);
  CHECK(view.tiles == 12);
  CHECK(view.shown == 3);
  CHECK(view.at == std::vector<std::vector<int64_t>>{{0, 2}, {1, 0}, {1, 1}});
  CHECK(view.pixels[30 + 7] == float(at(x, {1, 0, 1, 1})));
  query = {};
  query.channel_dim = 1;
  view = read_tiles(x, query);
  CHECK(view.tiles == 4);
  CHECK(view.channels == 3);
  CHECK(view.pixels[90 * 2 + 30 + 7] == float(at(x, {2, 1, 1, 1})));
  query.channel_dim = 0;
  CHECK(read_tiles(x, query).reason == "dim 1 has size 4; red, green and blue are 3");
  CHECK(read_tiles(counting({4}), {}).reason == "a picture has at least two dims");
}

TEST_CASE("pictures share the limit of read elements, and skip no pixel") {
  const Tensor huge = expand(reshape(counting({8192}), {1, 1, 8192}), {64, 8192, 8192});
  const std::clock_t start = std::clock();
  const TileView view = read_tiles(huge, {});
  const double seconds = double(std::clock() - start) / CLOCKS_PER_SEC;  // of the processor
  MESSAGE("64 pictures of 2^26 elements each took " << 1e3 * seconds << " ms");
  CHECK(seconds < 0.4);
  CHECK(view.shown == 64);
  REQUIRE(view.pixels.size() == 64 * 64 * 64);
  for (size_t i = 0; i < view.pixels.size(); ++i) REQUIRE(view.pixels[i] > float(i % 64 * 128) + 90);
}

TEST_CASE("a slice as text is read back unchanged") {
  const Tensor x =
      Tensor::from<float>(std::vector<float>{1, -2.5f, 0.1f, std::numeric_limits<float>::infinity()}, {2, 2});
  CHECK(print_slice(x, {}, SliceFormat::csv) == "1,-2.5\n0.1,inf\n");
  CHECK(print_slice(x, {}, SliceFormat::lua) ==
        "lg.tensor({{1.0, -2.5},\n  {0.1, math.huge}}, {dtype = \"f32\"})");
  CHECK(print_slice(counting({3}, DType::i64), {}, SliceFormat::lua) ==
        "lg.tensor({0, 1, 2}, {dtype = \"i64\"})");
  CHECK(print_slice(counting({}), {}, SliceFormat::lua) == "lg.tensor(0.0, {dtype = \"f32\"})");
  CHECK_THROWS_WITH_AS(print_slice(expand(counting({1, 1}), {2000, 2000}), {}, SliceFormat::csv),
                       "copy: the slice has 4000000 elements, more than 1048576; save it as a .npy file",
                       Error);
}

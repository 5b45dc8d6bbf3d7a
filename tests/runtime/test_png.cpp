// PNG images: reading of every kind, from files assembled by hand, and round trips.
#include <doctest/doctest.h>

#include <limits>

#include "runtime/io/png.h"
#include "runtime/ops.h"
#include "tests/support/png_bytes.h"

using namespace lunagrad;
using namespace lunagrad::tests;
using namespace std::string_literals;

namespace {

using Bytes = std::vector<int64_t>;

}  // namespace

TEST_CASE("png images of every kind are read as u8 [channels, height, width]") {
  Folder folder;
  const auto load = [&](const std::string& content, int channels = 0) {
    return load_png(folder.with("x.png", content), channels);
  };
  const Tensor grey = load(png_bytes({2, 2, 8, 0}, "\0\x01\x02\0\x03\xff"s));
  CHECK(grey.dtype() == DType::u8);
  CHECK(grey.shape() == Shape{1, 2, 2});
  CHECK(grey.to_vector<int64_t>() == Bytes{1, 2, 3, 255});
  const std::string rgb = png_bytes({2, 1, 8, 2}, "\0\x01\x02\x03\x0b\x0c\x0d"s);
  CHECK(load(rgb).shape() == Shape{3, 1, 2});
  CHECK(load(rgb).to_vector<int64_t>() == Bytes{1, 11, 2, 12, 3, 13});
  const std::string rgba = png_bytes({1, 1, 8, 6}, "\0\x01\x02\x03\x80"s);
  CHECK(load(rgba).to_vector<int64_t>() == Bytes{1, 2, 3, 128});
  CHECK(load(png_bytes({1, 1, 8, 4}, "\0\x07\x80"s)).to_vector<int64_t>() == Bytes{7, 128});
  // Depths below 8 are scaled up, 16 bits are scaled down.
  CHECK(load(png_bytes({3, 1, 1, 0}, "\0\xa0"s)).to_vector<int64_t>() == Bytes{255, 0, 255});
  CHECK(load(png_bytes({2, 1, 2, 0}, "\0\x60"s)).to_vector<int64_t>() == Bytes{85, 170});
  CHECK(load(png_bytes({2, 1, 4, 0}, "\0\x1f"s)).to_vector<int64_t>() == Bytes{17, 255});
  CHECK(load(png_bytes({2, 1, 16, 0}, "\0\xff\xff\x80\x00"s)).to_vector<int64_t>() == Bytes{255, 128});
  // Palettes, and transparency in a separate chunk.
  const std::string palette = png_chunk("PLTE", "\x0a\x0b\x0c\x14\x15\x16");
  CHECK(load(png_bytes({2, 1, 8, 3}, "\0\x01\x00"s, palette)).to_vector<int64_t>() ==
        Bytes{20, 10, 21, 11, 22, 12});
  CHECK(load(png_bytes({2, 1, 1, 3}, "\0\x40"s, palette + png_chunk("tRNS", "\x05"))).to_vector<int64_t>() ==
        Bytes{10, 20, 11, 21, 12, 22, 5, 255});
  CHECK(load(png_bytes({2, 1, 8, 0}, "\0\x05\x06"s, png_chunk("tRNS", "\0\x05"s))).to_vector<int64_t>() ==
        Bytes{5, 6, 0, 255});
  // The five filters of the format, which predict from the row above and the previous pixel.
  CHECK(load(png_bytes({2, 5, 8, 0}, "\0\x01\x02\x01\x03\x01\x02\x01\x01\x03\x01\x01\x04\x01\x01"s))
            .to_vector<int64_t>() == Bytes{1, 2, 3, 4, 4, 5, 3, 5, 4, 6});
  // Adam7: in a 2 x 2 image the first pass has (0, 0), the sixth (0, 1), the seventh row 1.
  CHECK(load(png_bytes({2, 2, 8, 0, 1}, "\0\x01\0\x02\0\x03\x04"s)).to_vector<int64_t>() ==
        Bytes{1, 2, 3, 4});
  // Gamma and other display chunks change nothing; unknown chunks are skipped.
  CHECK(load(png_bytes({1, 1, 8, 0}, "\0\x40"s,
                       png_chunk("gAMA", big_endian(uint32_t(45455))) + png_chunk("teSt", "x")))
            .to_vector<int64_t>() == Bytes{64});

  CHECK(load(rgb, 1).to_vector<int64_t>() == Bytes{2, 12});
  CHECK(load(rgba, 3).to_vector<int64_t>() == Bytes{1, 2, 3});
  CHECK(load(png_bytes({1, 1, 8, 0}, "\0\x07"s), 3).to_vector<int64_t>() == Bytes{7, 7, 7});
  CHECK(load(png_bytes({1, 1, 8, 4}, "\0\x07\x80"s), 4).to_vector<int64_t>() == Bytes{7, 7, 7, 128});
  CHECK(load(png_bytes({1, 1, 8, 0}, "\0\x07"s), 4).to_vector<int64_t>() == Bytes{7, 7, 7, 255});

  const FileInfo info = describe_png(folder.with("x.png", rgb));
  CHECK(info.arrays[0].shape == std::vector<uint64_t>{3, 1, 2});
  CHECK(info.metadata.at("kind") == "rgb");
}

TEST_CASE("a saved png reads back") {
  Folder folder;
  const std::string path = folder.file("x.png");
  for (const int channels : {1, 2, 3, 4}) {
    CAPTURE(channels);
    std::vector<uint8_t> values(size_t(channels) * 35);
    for (size_t i = 0; i < values.size(); ++i) values[i] = uint8_t(i * 37);
    const Tensor x = Tensor::from<uint8_t>(values, {channels, 5, 7});
    save_png(path, x);
    CHECK(load_png(path).shape() == x.shape());
    CHECK(load_png(path).to_vector<uint8_t>() == values);
    save_png(path, transpose(x, 1, 2));
    CHECK(load_png(path).to_vector<uint8_t>() == transpose(x, 1, 2).to_vector<uint8_t>());
  }
  const float nan = std::numeric_limits<float>::quiet_NaN();
  save_png(path, Tensor::from<float>(std::vector<float>{0, 1, 0.5f, -1, 2, nan, 100 / 255.f, 1e30f}, {2, 4}));
  CHECK(load_png(path).to_vector<int64_t>() == Bytes{0, 255, 128, 0, 255, 0, 100, 255});
  save_png(path, to(Tensor::from<float>(std::vector<float>{0.25f}, {1, 1}), DType::f16));
  CHECK(load_png(path).to_vector<int64_t>() == Bytes{64});

  const std::string before = read_file(path);
  const auto save = [&](const Shape& shape, DType dtype = DType::u8) { save_png(path, zeros(shape, dtype)); };
  CHECK_THROWS_WITH(save({5, 2, 2}),
                    "png: [channels, height, width] with 1 to 4 channels, or [height, width], expected (got "
                    "shape [5, 2, 2])");
  CHECK_THROWS_WITH(
      save({2}),
      "png: [channels, height, width] with 1 to 4 channels, or [height, width], expected (got shape [2])");
  CHECK_THROWS_WITH(save({3, 0, 2}), "png: an image has 1 to 1000000 rows and columns (got shape [3, 0, 2])");
  CHECK_THROWS_WITH(save({2, 2}, DType::i64), "png: dtype i64 is neither u8 nor a floating type with 0 to 1");
  CHECK(refusal([&] {
          save_png(folder.file("no/x.png"), zeros({1, 1}));
        }) == "no/x.png: cannot write: No such file or directory");
  CHECK(read_file(path) == before);
  CHECK(folder.count() == 1);
}

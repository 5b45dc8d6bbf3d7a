// Netpbm pictures: the values that are read and the bytes that are written, and files that are refused.
#include <doctest/doctest.h>

#include "runtime/io/format.h"
#include "runtime/ops.h"
#include "tests/support/files.h"

using namespace lunagrad;
using namespace lunagrad::tests;

namespace {

const FileFormat& pnm() { return *format_of_name("x.pnm"); }
Tensor load(const std::string& path) { return pnm().load(path, {}); }

}  // namespace

TEST_CASE("a PPM file gives its channels as planes, and is written back byte for byte") {
  const Folder folder;
  const std::string content(
      "P6\n3 2\n255\n\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\xff", 29);
  const Tensor x = load(folder.with("a.ppm", content));
  CHECK(x.dtype() == DType::u8);
  CHECK(x.shape() == Shape{3, 2, 3});
  CHECK(x.to_vector<int64_t>() ==
        std::vector<int64_t>{1, 4, 7, 10, 13, 16, 2, 5, 8, 11, 14, 17, 3, 6, 9, 12, 15, 255});
  pnm().save(folder.file("b.ppm"), x);
  CHECK(read_file(folder.file("b.ppm")) == content);
  pnm().save(folder.file("c.pgm"), narrow(x, 0, 0, 1));
  CHECK(read_file(folder.file("c.pgm")) == std::string("P5\n3 2\n255\n\x01\x04\x07\x0a\x0d\x10", 17));
}

TEST_CASE("comments of a PGM header are skipped; two-byte samples become i32") {
  const Folder folder;
  const std::string path = folder.with(
      "a.pgm", std::string("P5 # width\n2# height\n\t1 #\n# largest\n65535\n\x01\x02\xff\xff", 46));
  CHECK(load(path).dtype() == DType::i32);
  CHECK(load(path).to_vector<int64_t>() == std::vector<int64_t>{0x102, 65535});
  CHECK(describe_file(path).arrays[0].type == "u16");
  CHECK(describe_file(path).metadata.at("largest") == "65535");
}

TEST_CASE("a damaged PGM or PPM header is refused with its reason") {
  const Folder folder;
  const auto refused = [&](const std::string& content) {
    const std::string path = folder.with("a.pgm", content);
    return refusal([&] { load(path); });
  };
  CHECK(refused("P2\n1 1\n255\n0") == "a.pgm: not a binary PGM or PPM file: it does not begin with P5 or P6");
  CHECK(refused("P51 1 255 x") == "a.pgm: no blank stands before the width");
  CHECK(refused("P5 -1 1 255 x") == "a.pgm: the width is not a number");
  CHECK(refused("P5 1x 1 255 x") == "a.pgm: the width is not a number");
  CHECK(refused("P5 0 1 255 x") == "a.pgm: the width is not within 1 and 1000000");
  CHECK(refused("P5 1 99999999999999999999999 255 x") == "a.pgm: the height is not within 1 and 1000000");
  CHECK(refused("P5 1 1 65536 x") == "a.pgm: the largest sample is not within 1 and 65535");
  CHECK(refused("P5 1 1 255# x") == "a.pgm: no blank ends the header");
  CHECK(refused("P5 1 1 2") == "a.pgm: ends within its header");
  CHECK(refused("P5 1000000 1000000 255 x") ==
        "a.pgm: declares 1000000 x 1000000 pixels, which its 24 bytes cannot hold");
}

TEST_CASE("what a PGM or PPM file cannot hold is refused") {
  const Folder folder;
  const auto refused = [&](const Tensor& x) { CHECK_THROWS_AS(pnm().save(folder.file("a.ppm"), x), Error); };
  refused(zeros({2, 3, 3}, DType::u8, cpu_device()));
  refused(zeros({3, 3}, DType::u8, cpu_device()));
  refused(zeros({3, 0, 3}, DType::u8, cpu_device()));
  refused(zeros({3, 3, 3}, DType::f32, cpu_device()));
  CHECK(folder.count() == 0);
}

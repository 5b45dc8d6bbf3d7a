// .npy and .npz: files written by NumPy, round trips of our own files, and the grammar of the header.
#include <doctest/doctest.h>

#include <bit>
#include <complex>
#include <cstring>
#include <limits>

#include "folders.h"
#include "runtime/io/npy.h"
#include "runtime/io/npz.h"
#include "runtime/ops.h"
#include "tests/support/files.h"

using namespace lunagrad;
using namespace lunagrad::tests;

namespace {

const std::string kData = LUNAGRAD_SOURCE_DIR "/tests/data/";

// The numbers first, first + 1, …
std::vector<double> counting(double first, size_t count) {
  std::vector<double> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = first + double(i);
  return values;
}

}  // namespace

TEST_CASE("npy files that NumPy wrote are read") {
  struct {
    const char* name;
    DType dtype;
  } const types[] = {{"f2", DType::f16}, {"f4", DType::f32}, {"f8", DType::f64}, {"i2", DType::i32},
                     {"i4", DType::i32}, {"i8", DType::i64}, {"u2", DType::i32}, {"u4", DType::i64}};
  for (const auto& [name, dtype] : types) {
    CAPTURE(name);
    for (const char* order : {"little_", "big_"}) {
      CAPTURE(order);
      const Tensor x = load_npy(kData + order + name + ".npy");
      CHECK(x.dtype() == dtype);
      CHECK(x.shape() == Shape{2, 3});
      CHECK(x.to_vector<double>() == counting(name[0] == 'u' ? 0 : -3, 6));
    }
  }
  CHECK(load_npy(kData + "i1.npy").dtype() == DType::i32);
  CHECK(load_npy(kData + "i1.npy").to_vector<double>() == counting(-3, 6));
  CHECK(load_npy(kData + "u1.npy").dtype() == DType::u8);
  CHECK(load_npy(kData + "u1.npy").to_vector<double>() == counting(0, 6));
  const Tensor flags = load_npy(kData + "b1.npy");
  CHECK(flags.dtype() == DType::boolean);
  CHECK(flags.to_vector<int64_t>() == std::vector<int64_t>{0, 1, 1, 1, 0, 0});

  const Tensor fortran = load_npy(kData + "fortran.npy");
  CHECK(fortran.shape() == Shape{2, 3, 4});
  CHECK(fortran.is_contiguous());
  CHECK(fortran.to_vector<double>() == counting(-3, 24));
  CHECK(load_npy(kData + "scalar.npy").shape() == Shape{});
  CHECK(load_npy(kData + "scalar.npy").item() == 7);
  CHECK(load_npy(kData + "vector.npy").to_vector<double>() == counting(-3, 5));
  CHECK(load_npy(kData + "empty.npy").shape() == Shape{0, 3});
  for (const char* name : {"version2.npy", "version3.npy"})
    CHECK(load_npy(kData + name).to_vector<double>() == counting(-3, 6));
}

TEST_CASE("npz archives that NumPy wrote are read, stored and deflated") {
  for (const char* name : {"stored.npz", "deflated.npz"}) {
    CAPTURE(name);
    const NamedTensors arrays = load_npz(kData + name);
    REQUIRE(arrays.size() == 3);
    CHECK(arrays[0].first == "w");
    CHECK(arrays[0].second.to_vector<double>() == counting(-3, 6));
    CHECK(arrays[1].first == "a.b");
    CHECK(arrays[1].second.dtype() == DType::i64);
    CHECK(arrays[2].first == "dir/c");
    CHECK(arrays[2].second.to_vector<double>() == counting(-3, 24));
    const FileInfo info = describe_npz(kData + name);
    CHECK(info.arrays[1].type == "<i8");
    CHECK(info.arrays[1].shape == std::vector<uint64_t>{5});
    CHECK(info.arrays[1].bytes == 40);
  }
}

TEST_CASE("npy and npz of every dtype survive a round trip and have NumPy's bytes") {
  Folder folder;
  for (const char* name : {"little_f2", "little_f4", "little_f8", "little_i4", "little_i8", "u1", "b1",
                           "scalar", "vector", "empty"}) {
    CAPTURE(name);
    const std::string original = kData + name + ".npy";
    save_npy(folder.file("x.npy"), load_npy(original));
    CHECK(read_file(folder.file("x.npy")) == read_file(original));
  }
  const float inf = std::numeric_limits<float>::infinity();
  const Tensor x = Tensor::from<float>(std::vector<float>{1, -inf, 1e-45f, -0.0f, 5, 6}, {3, 2});
  const Tensor wide = Tensor::from<int64_t>(std::vector<int64_t>{INT64_MIN, INT64_MAX}, {2, 1, 1});
  for (const bool compress : {false, true}) {
    save_npz(folder.file("x.npz"), {{"t", t(x)}, {"wide", wide}, {"ü", Tensor::from<uint8_t>({}, {0})}},
             compress);
    const NamedTensors back = load_npz(folder.file("x.npz"));
    REQUIRE(back.size() == 3);
    CHECK(back[0].second.shape() == Shape{2, 3});
    CHECK(back[0].second.to_vector<float>() == t(x).to_vector<float>());
    CHECK(std::signbit(back[0].second.to_vector<float>()[4]));
    CHECK(back[1].second.to_vector<int64_t>() == wide.to_vector<int64_t>());
    CHECK(back[2].first == "ü");
    // Equal arrays give equal files.
    save_npz(folder.file("y.npz"), {{"t", t(x)}, {"wide", wide}, {"ü", Tensor::from<uint8_t>({}, {0})}},
             compress);
    CHECK(read_file(folder.file("x.npz")) == read_file(folder.file("y.npz")));
  }
  save_npz(folder.file("none.npz"), {});
  CHECK(load_npz(folder.file("none.npz")).empty());
  // A long array is compressed, and read back in many pieces.
  const Tensor zeros = lunagrad::zeros({5'000'000});
  save_npz(folder.file("zeros.npz"), {{"z", zeros}}, true);
  CHECK(std::filesystem::file_size(folder.file("zeros.npz")) < 100'000);
  CHECK(load_npz(folder.file("zeros.npz"))[0].second.to_vector<float>() == zeros.to_vector<float>());
  CHECK(folder.count() == 5);
}

TEST_CASE("an array in Fortran order with swapped bytes and a widened type is read") {
  Folder folder;
  std::string data;
  for (const int16_t value : {1, 2, 3, -4, 5, 6}) data += big_endian(value);
  const Tensor x = load_npy(
      folder.with("x", npy_bytes("{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3)}\n", data)));
  CHECK(x.to_vector<int64_t>() == std::vector<int64_t>{1, 3, 5, 2, -4, 6});
}

TEST_CASE("complex numbers are read in either byte order") {
  Folder folder;
  const std::complex<float> expected[] = {{1, -2}, {0.5f, 3}};
  std::string data;
  for (const auto& z : expected)
    for (const float part : {z.real(), z.imag()}) data += big_endian(std::bit_cast<int32_t>(part));
  const Tensor x = load_npy(
      folder.with("x", npy_bytes("{'descr': '>c8', 'fortran_order': False, 'shape': (2,)}\n", data)));
  CHECK(x.dtype() == DType::c64);
  const std::vector<std::complex<double>> got = to(x, DType::c128).to_vector<std::complex<double>>();
  for (size_t i = 0; i < 2; ++i) CHECK(got[i] == std::complex<double>(expected[i]));
}

TEST_CASE("the header of a npy file is parsed by its grammar") {
  Folder folder;
  const auto load = [&](const std::string& dict, std::string_view data = "abcdef") {
    return refusal([&] { load_npy(folder.with("x", npy_bytes(dict, data))); });
  };
  // Variants of the same header.
  for (const char* dict : {"{'descr': '|u1', 'fortran_order': False, 'shape': (6,), }",
                           "{'descr':'|u1','fortran_order':False,'shape':(6,)}",
                           "{\"shape\": (2, 3), \"descr\": \"<u1\", \"fortran_order\": False}   \n",
                           "{'fortran_order': True, 'shape': (1, 2, 3,), 'descr': '>u1'}"})
    CHECK(load(dict) == "");
  const std::string rest = ", 'fortran_order': False, 'shape': (6,)}";
  const auto descr = [&](const std::string& type) { return load("{'descr': " + type + rest); };
  CHECK(descr("'|O'") == "x: holds Python objects, which are code of pickle's and are never loaded");
  CHECK(descr("[('a', '<f4')]") == "x: structured arrays (records with fields) are not supported");
  CHECK(descr("'<u8'") == "x: the type '<u8' is not supported");
  CHECK(descr("'<U3'") == "x: the type '<U3' is not supported");
  CHECK(descr("'|f4'") == "x: the type '|f4' is not supported");
  CHECK(descr("'f4'") == "x: the type 'f4' is not supported");
  CHECK(descr("__import__('os').system('x')") ==
        "x: its header is damaged: a quoted text expected at byte 11");
  const auto shape = [&](const std::string& text) {
    return load("{'descr': '|u1', 'fortran_order': False, 'shape': " + text + "}");
  };
  CHECK(shape("(3, 2)") == "");
  CHECK(shape("(6)") == "x: its header is damaged: ',' expected at byte 53");
  CHECK(shape("[6]") == "x: its header is damaged: '(' expected at byte 51");
  CHECK(shape("(-6,)") == "x: its shape holds a negative size");
  CHECK(shape("(6.0,)") == "x: its header is damaged: ',' expected at byte 53");
  CHECK(shape("(1000000000000000000,)") ==
        "x: ends early: its shape and type need 1000000000000000000 bytes of data, 6 found");
  CHECK(shape("(99999999999999999999,)") == "x: its shape overflows");
  CHECK(shape("(4294967296, 4294967296, 4294967296)") == "x: its shape overflows");
  CHECK(shape("(0, 4294967296, 4294967296)") == "x: its shape overflows");
  CHECK(shape("(1, 1, 1, 1, 1, 1, 1, 1, 6)") == "x: has more than the 8 dims that are supported");
  CHECK(shape("()") == "x: holds 5 bytes after the 1 of its array");
}

TEST_CASE("unsupported npy and npz content is an error before the file is changed") {
  Folder folder;
  const Tensor x = Tensor::from<float>(std::vector<float>{1}, {1});
  CHECK_THROWS_WITH(save_npy(folder.file("x"), to(x, DType::bf16)),
                    "npy: NumPy has no type bf16; save x:float()");
  CHECK_THROWS_WITH(save_npz(folder.file("x"), {{"a", x}, {"b", to(x, DType::bf16)}}),
                    "npy: NumPy has no type bf16; save x:float()");
  CHECK_THROWS_WITH(save_npz(folder.file("x"), {{"a", x}, {"a", x}}), "npz: two tensors are called 'a'");
  CHECK_THROWS_WITH(save_npz(folder.file("x"), {{"", x}}), "npz: an array needs a name without zero bytes");
  CHECK(folder.count() == 0);
  write_file(folder.file("x"), "old");
  CHECK(refusal([&] { save_npz(folder.file("x"), {{"a\xff", x}}); }).find("x: cannot write: ") == 0);
  CHECK(read_file(folder.file("x")) == "old");
  CHECK(folder.count() == 1);
}

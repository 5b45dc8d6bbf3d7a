// A generated corpus of hostile files: each rule of each format broken once, and each format truncated at
// each byte. Each file must be an error with a reason, quickly, and without allocating the memory that it
// declares.
#include <doctest/doctest.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <functional>

#include "runtime/io/csv.h"
#include "runtime/io/format.h"
#include "runtime/io/idx.h"
#include "runtime/io/npy.h"
#include "runtime/io/npz.h"
#include "runtime/io/png.h"
#include "runtime/io/safetensors.h"
#include "runtime/ops.h"
#include "tests/support/png_bytes.h"
#include "tests/support/resident.h"
#include "tests/support/sanitizers.h"
#include "tests/support/zip_bytes.h"

using namespace lunagrad;
using namespace lunagrad::tests;
using namespace std::string_literals;

namespace {

struct Hostile {
  std::string what;
  std::string content;
  std::string reason;  // part of the error text; empty: any
};
using Corpus = std::vector<Hostile>;

// Loads each file, checks its error, and returns the number of files.
size_t refuse_all(const Corpus& corpus, const std::string& name,
                  const std::function<void(const std::string&)>& load) {
  Folder folder;
  const ResidentPeak resident;
  size_t largest = 0;
  const size_t in_use = cpu_device().memory().in_use;
  for (const Hostile& file : corpus) {
    CAPTURE(file.what);
    const std::string path = folder.with(name, file.content);
    largest = std::max(largest, file.content.size());
    for (const bool whole : {true, false}) {
      const std::clock_t start = std::clock();
      const std::string reason = refusal([&] {
        if (whole)
          load(path);
        else
          describe_file(path);
      });
      CHECK(std::clock() - start < (kSanitized ? 20 : 2) * CLOCKS_PER_SEC);
      if (!whole) continue;  // the header may be valid although the data are not
      CAPTURE(reason);
      CHECK(reason.find(name + ":") == 0);
      CHECK(reason.find(file.reason) != std::string::npos);
      CHECK(reason.size() < 400);
    }
  }
  CHECK(cpu_device().memory().in_use == in_use);
  if (!kSanitized) CHECK(resident.grown() < (size_t(64) << 20) + 4 * largest);
  return corpus.size();
}

// Every truncation of a valid file.
void add_cuts(Corpus& corpus, const std::string& good, size_t step = 1) {
  for (size_t cut = 0; cut < good.size(); cut += step)
    corpus.push_back({"cut to " + std::to_string(cut) + " bytes", good.substr(0, cut), ""});
}

std::string npy_dict(const std::string& shape, const std::string& descr = "<f4",
                     const std::string& order = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}

}  // namespace

TEST_CASE("hostile npy files are refused") {
  const std::string good = npy_bytes(npy_dict("(2, 3)"), std::string(24, 'x'));
  Corpus corpus{
      {"another magic", "\x93NUMPX" + good.substr(6), "does not begin with"},
      {"version 0", "\x93NUMPY\0"s + good.substr(7), "version 0.0"},
      {"version 4", "\x93NUMPY\4" + good.substr(7), "version 4.0"},
      {"version 1.1", "\x93NUMPY\1\1" + good.substr(8), "version 1.1"},
      {"version 255", "\x93NUMPY\xff" + good.substr(7), "version 255.0"},
      {"a header past the end", "\x93NUMPY\1\0\xff\xff{}"s, "ends within its header"},
      {"a header of 4 GiB", "\x93NUMPY\2\0\xff\xff\xff\xff{}"s, "over the limit"},
      {"a header of 64 KiB and a byte", "\x93NUMPY\2\0\x01\0\1\0"s + std::string(70000, ' '),
       "over the limit"},
      {"no header", npy_bytes("", ""), "'{' expected"},
      {"a header of blanks", npy_bytes(std::string(60000, ' '), ""), "'{' expected"},
      {"a number as a key", npy_bytes("{1: 2}", ""), "a quoted text expected"},
      {"an open quote", npy_bytes("{'descr", ""), "does not end"},
      {"an unknown key", npy_bytes("{'x': 1}", ""), "unknown key 'x'"},
      {"a key with a line end", npy_bytes("{'\n\x1b[2J': 1}", ""), "unknown key '??[2J'"},
      {"a long key", npy_bytes("{'" + std::string(9000, 'k') + "': 1}", ""), "unknown key"},
      {"a key twice", npy_bytes("{'descr': '<f4', 'descr': '<f4'}", ""), "appears twice"},
      {"an empty dict", npy_bytes("{}", ""), "has no 'descr'"},
      {"no shape", npy_bytes("{'descr': '<f4', 'fortran_order': False}", ""), "has no 'shape'"},
      {"no order", npy_bytes("{'descr': '<f4', 'shape': (1,)}", "abcd"), "has no 'fortran_order'"},
      {"an open dict", npy_bytes("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)", "abcd"),
       "'}' expected"},
      {"words behind the dict", npy_bytes(npy_dict("(1,)") + "x", "abcd"), "goes on after"},
      {"two dicts", npy_bytes(npy_dict("(1,)") + npy_dict("(1,)"), "abcd"), "goes on after"},
      {"a zero byte in the header", npy_bytes("{'descr': '<f4'\0}"s, ""), "'}' expected"},
      {"an order that is 1", npy_bytes(npy_dict("(1,)", "<f4", "1"), "abcd"), "neither True nor False"},
      {"code as a type", npy_bytes("{'descr': exit(1)}", ""), "a quoted text expected"},
      {"code as a shape", npy_bytes(npy_dict("(exit(),)"), ""), "a size expected"},
      {"no type", npy_bytes(npy_dict("(1,)", ""), ""), "the type '' is not supported"},
      {"a byte order alone", npy_bytes(npy_dict("(1,)", "<"), ""), "not supported"},
      {"floats of 0 bytes", npy_bytes(npy_dict("(1,)", "<f0"), ""), "not supported"},
      {"floats of 10^9 bytes", npy_bytes(npy_dict("(1,)", "<f1000000000"), ""), "not supported"},
      {"texts", npy_bytes(npy_dict("(1,)", "<U1"), "abcd"), "not supported"},
      {"times", npy_bytes(npy_dict("(1,)", "<M8[ns]"), ""), "not supported"},
      {"objects", npy_bytes(npy_dict("(1,)", "|O"), "\x80\4."), "never loaded"},
      {"records", npy_bytes("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", "abcd"),
       "structured"},
      {"10^18 elements", npy_bytes(npy_dict("(1000000000000000000,)"), "abcd"), "ends early"},
      {"2^64 elements", npy_bytes(npy_dict("(18446744073709551616,)"), "abcd"), "overflows"},
      {"2^63 elements", npy_bytes(npy_dict("(9223372036854775808,)"), "abcd"), "overflows"},
      {"a product of 2^64", npy_bytes(npy_dict("(4294967296, 4294967296)"), "abcd"), "overflows"},
      {"a product that wraps to 4", npy_bytes(npy_dict("(4194305, 4194305, 211106198978564)"), "abcd"),
       "overflows"},
      {"strides that overflow", npy_bytes(npy_dict("(0, 4611686018427387904, 4)"), ""), "overflows"},
      {"a negative size", npy_bytes(npy_dict("(-1,)"), ""), "negative"},
      {"a size of -0", npy_bytes(npy_dict("(-0,)"), ""), "negative"},
      {"a fraction", npy_bytes(npy_dict("(1.5,)"), "abcd"), "',' expected"},
      {"a hexadecimal size", npy_bytes(npy_dict("(0x1,)"), "abcd"), "',' expected"},
      {"a nested tuple", npy_bytes(npy_dict("((1,),)"), "abcd"), "a size expected"},
      {"a thousand nested tuples", npy_bytes(npy_dict(std::string(1000, '(')), ""), "a size expected"},
      {"nine dims", npy_bytes(npy_dict("(1, 1, 1, 1, 1, 1, 1, 1, 1)"), "abcd"), "more than the 8 dims"},
      {"ten thousand dims", npy_bytes(npy_dict("(" + std::string(20000, '1') + ")"), ""), "overflows"},
      {"an open tuple", npy_bytes("{'descr': '<f4', 'fortran_order': False, 'shape': (1, ", "abcd"),
       "a size expected"},
      {"a byte too few", good.substr(0, good.size() - 1), "ends early"},
      {"a byte too many", good + "x", "holds 1 bytes after"},
      {"another array behind", good + good, "bytes after"},
      {"a boolean of 2", npy_bytes(npy_dict("(3,)", "|b1"), "\0\1\2"s), "a boolean holds 2"},
  };
  add_cuts(corpus, good);
  CHECK(refuse_all(corpus, "x.npy", [](const std::string& path) { load_npy(path); }) > 120);
}

TEST_CASE("hostile npz archives are refused") {
  const std::string array = npy_bytes(npy_dict("(2, 3)"), std::string(24, 'x'));
  const std::string good = zip_bytes({stored("a.npy", array), deflated("b.npy", array)});
  {
    Folder folder;
    REQUIRE(load_npz(folder.with("x", good)).size() == 2);
  }
  const auto changed = [&](auto change) {
    HandMadeEntry entry = stored("a.npy", array);
    change(entry);
    return zip_bytes({entry});
  };
  const auto changed_packed = [&](auto change) {
    HandMadeEntry entry = deflated("a.npy", array);
    change(entry);
    return zip_bytes({entry});
  };
  std::string wrong_byte = good;
  wrong_byte[good.find("xxxx")] = 'y';
  std::vector<HandMadeEntry> overlapping(
      1000, deflated("", npy_bytes(npy_dict("(250000,)"), std::string(1000000, '\0'))));
  for (size_t i = 0; i < overlapping.size(); ++i) {
    overlapping[i].name = std::to_string(i) + ".npy";
    overlapping[i].offset = 0;
    if (i > 0)
      overlapping[i].packed_size = uint32_t(overlapping[0].packed.size()), overlapping[i].packed.clear();
  }
  Corpus corpus{
      {"no archive", "PK", "not a .npz file"},
      {"a directory alone", "PK\5\6"s + std::string(17, '\0'), "not a .npz file"},
      {"more entries than there are", zip_bytes({stored("a.npy", array)}, 60000), "not a .npz file"},
      {"fewer entries than there are", zip_bytes({stored("a.npy", array), stored("b.npy", array)}, 1), ""},
      {"an entry that is no array", zip_bytes({stored("a.txt", array)}), "does not end in .npy"},
      {"an entry without a name", zip_bytes({stored(".npy", array)}), "does not end in .npy"},
      {"one name twice", zip_bytes({stored("a.npy", array), stored("a.npy", array)}), "already exists"},
      {"an encrypted entry", changed([](HandMadeEntry& e) { e.flags = 1; }), ""},
      {"a method unknown here", changed([](HandMadeEntry& e) { e.method = 99; }), ""},
      {"bzip2", changed([](HandMadeEntry& e) { e.method = 12; }), "packed by method 12"},
      {"a wrong CRC", changed([](HandMadeEntry& e) { e.crc ^= 1; }), "CRC"},
      {"a wrong CRC of packed bytes", changed_packed([](HandMadeEntry& e) { e.crc ^= 1; }), "CRC"},
      {"a changed byte", wrong_byte, "CRC"},
      {"a size that is too small", changed([](HandMadeEntry& e) { e.size -= 4; }), "cannot hold"},
      {"a size that is too large", changed([](HandMadeEntry& e) { e.size += 4; }), "cannot hold"},
      {"packed, a size that is too small", changed_packed([](HandMadeEntry& e) { e.size -= 4; }), ""},
      {"packed, a size that is too large", changed_packed([](HandMadeEntry& e) { e.size += 4; }), ""},
      {"4 GiB from a few bytes", changed_packed([](HandMadeEntry& e) { e.size = 0xfffffff0; }),
       "cannot hold"},
      {"packed bytes past the file",
       changed([](HandMadeEntry& e) { e.packed_size = 1 << 30, e.size = 1 << 30; }), ""},
      {"an offset past the file", changed([](HandMadeEntry& e) { e.offset = 1 << 30; }), ""},
      {"an offset into the middle", changed([](HandMadeEntry& e) { e.offset = 7; }), ""},
      {"a thousand entries of the same bytes", zip_bytes(overlapping), ""},
      {"damaged deflate", changed_packed([](HandMadeEntry& e) { e.packed[0] = '\x07'; }), ""},
      {"deflate that ends early",
       changed_packed([](HandMadeEntry& e) { e.packed.resize(e.packed.size() / 2); }), ""},
      {"an array that declares more",
       zip_bytes({deflated("a.npy", npy_bytes(npy_dict("(1000000000000000000,)"), "abcd"))}), "ends early"},
      {"an array that declares less", zip_bytes({stored("a.npy", npy_bytes(npy_dict("(1,)"), "abcdefgh"))}),
       "4 bytes after"},
      {"objects", zip_bytes({stored("a.npy", npy_bytes(npy_dict("(1,)", "|O"), "x"))}), "never loaded"},
      {"an empty entry", zip_bytes({stored("a.npy", "")}), "array 'a': not a .npy file"},
  };
  add_cuts(corpus, good);
  CHECK(refuse_all(corpus, "x.npz", [](const std::string& path) { load_npz(path); }) > 150);
}

TEST_CASE("hostile safetensors files are refused") {
  const auto file = [](const std::string& header, const std::string& data = "") {
    return safetensors_bytes(header, data);
  };
  const auto tensor = [](const std::string& shape, const std::string& offsets,
                         const std::string& dtype = "\"U8\"") {
    return "{\"a\":{\"dtype\":" + dtype + ",\"shape\":" + shape + ",\"data_offsets\":" + offsets + "}}";
  };
  std::string many = "{";
  for (int i = 0; i < 100000; ++i)
    many += (i ? ",\"" : "\"") + std::to_string(i) +
            R"(":{"dtype":"U8","shape":[1000000],"data_offsets":[0,1000000]})";
  many += "}";
  const std::string good = file(tensor("[2]", "[0,2]"), "xy");
  Corpus corpus{
      {"a header of 2^64 - 1 bytes", std::string(8, '\xff') + "{}", "over the limit"},
      {"a header of 100 MB and a byte", little_endian(uint64_t(100'000'001)) + "{}", "over the limit"},
      {"a header past the end", little_endian(uint64_t(3)) + "{}", "ends within its header"},
      {"a byte-order mark", file("\xef\xbb\xbf{}"), "does not start with '{'"},
      {"blanks in front", file(" {}"), "does not start with '{'"},
      {"a zero byte behind", file("{}\0"s), "not valid JSON"},
      {"a comment", file("{/**/}"), "not valid JSON"},
      {"a trailing comma", file("{\"__metadata__\":{},}"), "not valid JSON"},
      {"single quotes", file("{'a':1}"), "not valid JSON"},
      {"an unfinished escape", file("{\"a\\u12"), "not valid JSON"},
      {"half a surrogate pair", file("{\"\\ud800\":{}}"), "not valid JSON"},
      {"a name that is no UTF-8", file("{\"\xc0\x80\":{}}"), "not valid JSON"},
      {"a control character", file("{\"a\nb\":{}}"), "not valid JSON"},
      {"a million lists", file("{\"a\":" + std::string(1000000, '[')), ""},
      {"a million objects", file("{\"a\":" + std::string(1000000, '{')), ""},
      {"a million nested names", file([] {
         std::string text;
         for (int i = 0; i < 200000; ++i) text += "{\"a\":";
         return text;
       }()),
       ""},
      {"100000 tensors on the same bytes", file(many, std::string(1000000, 'x')), "the one before ends at"},
      {"a shape that is a text", file(tensor("\"2\"", "[0,2]"), "xy"), "holds a string"},
      {"a shape that is null", file(tensor("null", "[0,2]"), "xy"), "holds null"},
      {"a shape of 10^18", file(tensor("[1000000000000000000]", "[0,2]"), "xy"),
       "need 1000000000000000000 bytes"},
      {"a shape of 2^64", file(tensor("[18446744073709551616]", "[0,2]"), "xy"), ""},
      {"a shape of 2^63", file(tensor("[9223372036854775808]", "[0,2]"), "xy"), "overflows"},
      {"a shape that wraps", file(tensor("[4194305,4194305,211106198978564]", "[0,4]"), "wxyz"), "overflows"},
      {"strides that overflow", file(tensor("[0,4611686018427387904,4]", "[0,0]")), "overflows"},
      {"a shape of 1e1", file(tensor("[1e1]", "[0,10]"), "0123456789"), "fraction"},
      {"a million sizes",
       file(tensor(
                "[" +
                    [] {
                      std::string text = "1";
                      for (int i = 0; i < 1000000; ++i) text += ",1";
                      return text;
                    }() +
                    "]",
                "[0,1]"),
            "x"),
       "too long"},
      {"offsets the wrong way round", file(tensor("[2]", "[2,0]"), "xy"), "begin and end"},
      {"an offset of -1", file(tensor("[2]", "[-1,1]"), "xy"), "negative"},
      {"three offsets", file(tensor("[2]", "[0,1,2]"), "xy"), "begin and end"},
      {"offsets past the file", file(tensor("[9]", "[0,9]"), "xy"), "holds 2 bytes of data, 9 declared"},
      {"offsets near 2^64", file(tensor("[2]", "[18446744073709551613,18446744073709551615]"), "xy"),
       "leaves a hole"},
      {"a hole at the start", file(tensor("[1]", "[1,2]"), "xy"), "leaves a hole"},
      {"bytes behind the data", file(tensor("[1]", "[0,1]"), "xy"), "holds 2 bytes of data"},
      {"a dtype that is a number", file(tensor("[2]", "[0,2]", "1"), "xy"), "holds a number"},
      {"a dtype of another case", file(tensor("[2]", "[0,2]", "\"u8\""), "xy"), "unsupported type"},
      {"a dtype with a zero byte", file(tensor("[2]", "[0,2]", "\"U8\\u0000\""), "xy"), "unsupported type"},
      {"a long dtype", file(tensor("[2]", "[0,2]", "\"" + std::string(50, 'F') + "\""), "xy"),
       "unsupported type"},
      {"a boolean of 255", file(tensor("[1]", "[0,1]", "\"BOOL\""), "\xff"), "a boolean holds 255"},
      {"metadata that is a list", file("{\"__metadata__\":[]}"), ""},
      {"metadata that holds a list", file("{\"__metadata__\":{\"a\":[]}}"), "not a string"},
      {"metadata within metadata", file("{\"__metadata__\":{\"a\":{\"b\":\"c\"}}}"), "not a string"},
      {"metadata twice", file("{\"__metadata__\":{},\"__metadata__\":{}}"), "appears twice"},
      {"a zip archive behind", good + zip_bytes({stored("a.npy", "x")}), "bytes of data, 2 declared"},
  };
  add_cuts(corpus, good);
  CHECK(refuse_all(corpus, "x.safetensors", [](const std::string& path) { load_safetensors(path); }) > 100);
}

TEST_CASE("hostile png images are refused") {
  const std::string raw = "\0\1\2\3\0\4\5\6"s;
  const std::string good = png_bytes({3, 2, 8, 0}, raw);
  {
    Folder folder;
    REQUIRE(load_png(folder.with("x", good)).numel() == 6);
  }
  const std::string data = png_chunk("IDAT", zlib_packed(raw)), end = png_chunk("IEND", "");
  const auto header = [&](const PngKind& kind) { return png_bytes(kind, raw); };
  std::string wrong_crc = good;
  wrong_crc[8 + 8 + 13] ^= 1;
  Corpus corpus{
      {"another signature", "\x89PNG\n\x1a\n\n" + good.substr(8), "signature"},
      {"a JPEG", "\xff\xd8\xff\xe0" + std::string(100, 'x'), "signature"},
      {"a signature alone", kPngStart, "damaged PNG"},
      {"no header", kPngStart + data + end, "damaged PNG"},
      {"two headers", kPngStart + png_header({3, 2, 8, 0}) + png_header({3, 2, 8, 0}) + data + end,
       "damaged PNG"},
      {"no data", kPngStart + png_header({3, 2, 8, 0}) + end, "damaged PNG"},
      {"a wrong CRC of the header", wrong_crc, "damaged PNG"},
      {"no columns", header({0, 2, 8, 0}), "damaged PNG"},
      {"no rows", header({3, 0, 8, 0}), "damaged PNG"},
      {"2^31 columns", header({0x80000000, 2, 8, 0}), "damaged PNG"},
      {"2^32 - 1 rows and columns", header({UINT32_MAX, UINT32_MAX, 8, 6}), "damaged PNG"},
      {"10^6 rows and columns", header({1000000, 1000000, 8, 0}), "cannot hold"},
      {"10^6 rows and columns of one bit", header({1000000, 1000000, 1, 0}), "cannot hold"},
      {"10^6 rows and columns, interlaced", header({1000000, 1000000, 16, 6, 1}), "cannot hold"},
      {"a million columns and one row", header({1000000, 1, 16, 6}), "cannot hold"},
      {"10^6 and one columns", header({1000001, 1, 8, 0}), "damaged PNG"},
      {"a depth of 3", header({3, 2, 3, 0}), "damaged PNG"},
      {"a depth of 32", header({3, 2, 32, 0}), "damaged PNG"},
      {"a colour type of 5", header({3, 2, 8, 5}), "damaged PNG"},
      {"rgb of 4 bits", header({3, 2, 4, 2}), "damaged PNG"},
      {"an interlacing of 2", header({3, 2, 8, 0, 2}), "damaged PNG"},
      {"a palette image without a palette", header({3, 2, 8, 3}), "damaged PNG"},
      {"fewer rows than declared", png_bytes({3, 20, 8, 0}, raw), "damaged PNG"},
      {"a filter of 5", png_bytes({3, 2, 8, 0}, "\5\1\2\3\0\4\5\6"s), "damaged PNG"},
      {"data that are not zlib's",
       kPngStart + png_header({3, 2, 8, 0}) + png_chunk("IDAT", "no zlib data") + end, "damaged PNG"},
      {"data that are empty", kPngStart + png_header({3, 2, 8, 0}) + png_chunk("IDAT", "") + end,
       "damaged PNG"},
      {"a chunk of 2 GiB",
       kPngStart + png_header({3, 2, 8, 0}) + big_endian(uint32_t(0x7fffffff)) + "IDAT" + zlib_packed(raw),
       "damaged PNG"},
      {"a chunk of 4 GiB",
       kPngStart + png_header({3, 2, 8, 0}) + big_endian(UINT32_MAX) + "IDAT" + zlib_packed(raw),
       "damaged PNG"},
      {"a chunk name of digits", kPngStart + png_header({3, 2, 8, 0}) + png_chunk("1234", "") + data + end,
       "damaged PNG"},
      {"an unknown critical chunk", kPngStart + png_header({3, 2, 8, 0}) + png_chunk("ABCD", "") + data + end,
       "damaged PNG"},
  };
  add_cuts(corpus, good);
  CHECK(refuse_all(corpus, "x.png", [](const std::string& path) { load_png(path); }) > 80);
}

TEST_CASE("hostile idx and csv files are refused") {
  const std::string good = idx_header(0x0c, {2, 3}) + std::string(24, 'x');
  Corpus corpus{
      {"another magic", "\1\0\x08\1\0\0\0\0"s, "not 0 0"},
      {"no dims", "\0\0\x08\0"s, "0 dims"},
      {"255 dims", "\0\0\x08\xff"s + std::string(2000, '\1'), "255 dims"},
      {"type 0", idx_header(0, {1}) + "x", "element type 0"},
      {"type 10", idx_header(10, {1}) + "x", "element type 10"},
      {"type 255", idx_header(255, {1}) + "x", "element type 255"},
      {"2^32 elements", idx_header(8, {UINT32_MAX}) + "x", "ends early"},
      {"2^96 elements", idx_header(8, {UINT32_MAX, UINT32_MAX, UINT32_MAX}) + "x", "more than any file"},
      {"10^18 elements", idx_header(8, {1000000000, 1000000000}) + "x", "ends early"},
      {"strides that overflow", idx_header(8, {0, UINT32_MAX, UINT32_MAX, UINT32_MAX}), "more than any file"},
      {"a byte too many", good + "x", "more data"},
      {"a gzip header alone", "\x1f\x8b", "gzip"},
      {"gzip of another method", "\x1f\x8b\x07" + std::string(20, 'x'), "gzip"},
      {"gzip of noise", "\x1f\x8b\x08\0"s + std::string(200, 'x'), "gzip"},
  };
  add_cuts(corpus, good);
  size_t count = refuse_all(corpus, "x.idx", [](const std::string& path) { load_idx(path); });
  const Corpus tables{
      {"nothing", "", "empty"},
      {"a mark alone", "\xef\xbb\xbf", "empty"},
      {"zero bytes", std::string(10, '\0'), "not a number"},
      {"a word", "1,2\n3,x\n", "x.csv:2: column 2"},
      {"a word with control characters", "1\n\x1b[2J\n", "'\\x1b[2J'"},
      {"a row that is too short", "1,2\n3\n", "x.csv:2"},
      {"a row that is too long", "1,2\n3,4,5\n", "x.csv:2"},
      {"a million columns behind two", "1,2\n" + std::string(1000000, ','), "x.csv:2"},
      {"10^5 digits", "1\n" + std::string(100000, '9') + "\n", "does not fit"},
      {"a hexadecimal float", "1\n0x1p3\n", "not a number"},
      {"a decimal comma", "1;2\n1,5;2\n", "not a number"},
      {"Unicode digits", "1\n\xd9\xa1\n", "not a number"},
      {"an empty line", "1\n\n2\n", "empty"},
      {"quotes", "\"1\",\"2\"\n", "not a number"},
      {"a long word", std::string(1000000, 'z'), "not a number"},
  };
  count += refuse_all(tables, "x.csv", [](const std::string& path) { load_csv(path); });
  CHECK(count > 50);
}

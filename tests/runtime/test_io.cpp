#include <doctest/doctest.h>
#include <sys/resource.h>
#include <zlib.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <functional>
#include <limits>

#include "runtime/io/csv.h"
#include "runtime/io/idx.h"
#include "runtime/io/npy.h"
#include "runtime/io/npz.h"
#include "runtime/io/png.h"
#include "runtime/io/quoting.h"
#include "runtime/io/safetensors.h"
#include "runtime/ops.h"
#include "tests/support/files.h"

using namespace lunagrad;
using namespace lunagrad::tests;

TEST_CASE("an atomic file is complete or absent") {
  Folder folder;
  {
    AtomicFile file(folder.file("a"));
    file.write("half");
    CHECK_FALSE(std::filesystem::exists(folder.file("a")));
  }
  CHECK(folder.count() == 0);
  write_file(folder.file("a"), "one");
  {
    AtomicFile file(folder.file("a"));
    file.write("two");
    CHECK(read_file(folder.file("a")) == "one");
    file.commit();
  }
  CHECK(read_file(folder.file("a")) == "two");
  CHECK(folder.count() == 1);
  CHECK(refusal([&] { write_file(folder.file("no/such"), "x"); }) ==
        "no/such: cannot write: No such file or directory");
  CHECK(refusal([&] { read_file(folder.file("absent")); }) ==
        "absent: cannot open: No such file or directory");
  std::filesystem::create_directory(folder.file("d"));
  CHECK(refusal([&] { read_file(folder.file("d")); }) == "d: cannot read: Is a directory");
  CHECK(refusal([&] { write_file(folder.file("d"), "x"); }) == "d: cannot write: it is a folder");
}

TEST_CASE("a csv table is read exactly") {
  Folder folder;
  const auto values = [&](std::string_view content, CsvOptions options = {}) {
    return load_csv(folder.with("t.csv", content), options).values;
  };
  Tensor x = values("1,2.5,-3e2\n4,+5,0.1\n");
  CHECK(x.shape() == Shape{2, 3});
  CHECK(x.dtype() == DType::f32);
  CHECK(x.to_vector<float>() == std::vector<float>{1, 2.5f, -300, 4, 5, 0.1f});
  CHECK(values("1, 2\r\n 3 ,4\r\n\r\n\n").to_vector<float>() == std::vector<float>{1, 2, 3, 4});
  CHECK(values("\xef\xbb\xbf"
               "7")
            .to_vector<float>() == std::vector<float>{7});
  CHECK(values("1\t2\n", {.delimiter = '\t'}).to_vector<float>() == std::vector<float>{1, 2});
  CHECK(values("0.1\n", {.dtype = DType::f64}).to_vector<double>() == std::vector<double>{0.1});
  CHECK(values("9007199254740993\n", {.dtype = DType::i64}).item_integer() == 9007199254740993);
  CHECK(std::isinf(values("-inf\n").item()));

  CsvTable table = load_csv(folder.with("h.csv", "a, b\n1,2\n"), {.header = true});
  CHECK(table.columns == std::vector<std::string>{"a", "b"});
  CHECK(table.values.shape() == Shape{1, 2});
}

TEST_CASE("a csv that is not a table of numbers is an error with line and column") {
  Folder folder;
  const auto reason = [&](std::string_view content, CsvOptions options = {}) {
    return refusal([&] { load_csv(folder.with("t.csv", content), options); });
  };
  CHECK(reason("1,2\n3\n") == "t.csv:2: 2 columns expected, 1 found");
  CHECK(reason("1,2\n3,4,5,6\n") == "t.csv:2: 2 columns expected, 4 found");
  CHECK(reason("1,2\n3,abc\n") == "t.csv:2: column 2: 'abc' is not a number");
  CHECK(reason("a,b\n1,2\n") ==
        "t.csv:1: column 1: 'a' is not a number (if the first line names the columns, pass header = true)");
  CHECK(reason("1,\n") == "t.csv:1: column 2 is empty");
  CHECK(reason("1,2\n\n3,4\n") == "t.csv:2: the line is empty");
  CHECK(reason("") == "t.csv: the file is empty");
  CHECK(reason(" \r\n\n") == "t.csv: the file is empty");
  CHECK(reason("a,b\n", {.header = true}) == "t.csv:1: no row follows the header");
  CHECK(reason("a,b\n1\n", {.header = true}) == "t.csv:2: 2 columns expected, 1 found");
  CHECK(reason("1\n1e99\n") == "t.csv:2: column 1: '1e99' does not fit f32");
  CHECK(reason("1\n1.5\n", {.dtype = DType::i64}) == "t.csv:2: column 1: '1.5' is not an integer");
  CHECK(reason("1\n1;5\n") == "t.csv:2: column 1: '1;5' is not a number");
  CHECK(reason("1\n0x10\n") == "t.csv:2: column 1: '0x10' is not a number");
  CHECK(reason("1\n+-1\n") == "t.csv:2: column 1: '+-1' is not a number");
  CHECK(reason(std::string_view("1\n\0", 3)) == "t.csv:2: column 1: '\\x00' is not a number");
  CHECK(reason("1\n" + std::string(100, 'z')).size() < 120);
  CHECK(refusal([&] { load_csv(folder.file("absent.csv")); }) ==
        "absent.csv: cannot open: No such file or directory");
  CHECK_THROWS_WITH(load_csv(folder.with("t.csv", "1"), {.dtype = DType::u8}),
                    "csv: dtype u8 is not one of f32, f64, i64");
}

TEST_CASE("a saved csv reads back bit for bit") {
  Folder folder;
  const float pi = 3.14159274f, tiny = std::numeric_limits<float>::denorm_min(), third = 1.0f / 3;
  const std::vector<float> values{pi, tiny, third, -0.0f, 1e38f, 16777217.0f};
  save_csv(folder.file("x.csv"), Tensor::from<float>(values, {3, 2}), {"a", "b"});
  CsvTable table = load_csv(folder.file("x.csv"), {.header = true});
  CHECK(table.columns == std::vector<std::string>{"a", "b"});
  const std::vector<float> back = table.values.to_vector<float>();
  REQUIRE(back.size() == values.size());
  CHECK(std::memcmp(back.data(), values.data(), values.size() * sizeof(float)) == 0);

  save_csv(folder.file("i.csv"), Tensor::from<int64_t>(std::vector<int64_t>{9007199254740993, -1}, {2}));
  CHECK(read_file(folder.file("i.csv")) == "9007199254740993\n-1\n");
  CHECK_THROWS_WITH(
      save_csv(folder.file("y.csv"), Tensor::from<float>(std::vector<float>{1, 2}, {1, 2}), {"a"}),
      "csv: 1 column names for 2 columns");
  CHECK_THROWS_WITH(save_csv(folder.file("y.csv"), Tensor::from<float>(std::vector<float>{1}, {1, 1, 1})),
                    "csv: a table has 1 or 2 dims (got shape [1, 1, 1])");
  CHECK_FALSE(std::filesystem::exists(folder.file("y.csv")));
}

TEST_CASE("idx files of every type are read, uncompressed and compressed") {
  Folder folder;
  using namespace std::string_literals;
  const auto load = [&](const std::string& content) { return load_idx(folder.with("x.idx", content)); };
  Tensor bytes = load(idx_header(0x08, {2, 2}) + "\x00\x01\xfe\xff"s);
  CHECK(bytes.dtype() == DType::u8);
  CHECK(bytes.shape() == Shape{2, 2});
  CHECK(bytes.to_vector<int64_t>() == std::vector<int64_t>{0, 1, 254, 255});
  CHECK(load(idx_header(0x09, {2}) + "\xff\x01"s).to_vector<int64_t>() == std::vector<int64_t>{-1, 1});
  CHECK(load(idx_header(0x0b, {2}) + "\xff\xfe\x01\x00"s).to_vector<int64_t>() ==
        std::vector<int64_t>{-2, 256});
  CHECK(load(idx_header(0x0c, {1}) + "\x80\x00\x00\x00"s).item_integer() == -2147483648LL);
  CHECK(load(idx_header(0x0d, {1}) + "\x3f\xc0\x00\x00"s).item() == 1.5);
  CHECK(load(idx_header(0x0e, {1}) + "\xbf\xf8\x00\x00\x00\x00\x00\x00"s).item() == -1.5);
  CHECK(load(idx_header(0x08, {0, 28, 28})).shape() == Shape{0, 28, 28});

  for (const char* name : {"a.idx", "a.idx.gz"}) {
    Tensor x = Tensor::from<double>(std::vector<double>{1, -2.5, 1e300, 0}, {2, 2});
    save_idx(folder.file(name), x);
    CHECK(load_idx(folder.file(name)).dtype() == DType::f64);
    CHECK(load_idx(folder.file(name)).to_vector<double>() == x.to_vector<double>());
  }
  CHECK(read_file(folder.file("a.idx.gz")).substr(0, 2) == "\x1f\x8b");
  CHECK_THROWS_WITH(save_idx(folder.file("b.idx"), Tensor::from<int64_t>(std::vector<int64_t>{1}, {1})),
                    "idx: dtype i64 is not one of u8, i32, f32, f64");
}

TEST_CASE("a damaged idx file is an error with the reason") {
  Folder folder;
  using namespace std::string_literals;
  const auto reason = [&](const std::string& content) {
    return refusal([&] { load_idx(folder.with("x.idx", content)); });
  };
  const std::string good = idx_header(0x08, {2, 2}) + "abcd";
  CHECK(reason(good) == "");
  for (size_t cut = 0; cut < good.size(); ++cut) CHECK(reason(good.substr(0, cut)) != "");
  CHECK(reason(good.substr(0, 15)) == "x.idx: ends early: 2 x 2 elements need 4 bytes of data, 3 found");
  CHECK(reason(good + "e") == "x.idx: more data than the 4 bytes of 2 x 2 elements that its header declares");
  CHECK(reason("1,2,3\n") == "x.idx: not an IDX file: it begins with bytes 49 44, not 0 0");
  CHECK(reason("\0\0\x07\x01"s) == "x.idx: not an IDX file: element type 7 is unknown");
  CHECK(reason("\0\0\x08\x00"s) == "x.idx: 0 dims declared, 1 to 8 are supported");
  CHECK(reason("\0\0\x08\x09"s) == "x.idx: 9 dims declared, 1 to 8 are supported");
  const uint32_t huge = 0xffffffff;
  CHECK(reason(idx_header(0x08, {huge, huge, huge}) + "x") ==
        "x.idx: 4294967295 x 4294967295 x 4294967295 elements are more than any file holds");
  CHECK(reason(idx_header(0x0e, {huge, 1000}) + "x") ==
        "x.idx: ends early: 4294967295 x 1000 elements need 34359738360000 bytes of data, 1 found");
}

TEST_CASE("a damaged gzip file is an error with the reason") {
  Folder folder;
  std::vector<uint8_t> values(5000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = uint8_t(i * i >> 3);
  save_idx(folder.file("x.gz"), Tensor::from<uint8_t>(values, {50, 100}));
  const std::string good = read_file(folder.file("x.gz"));
  CHECK(load_idx(folder.file("x.gz")).to_vector<uint8_t>() == values);
  const auto reason = [&](const std::string& content) {
    return refusal([&] { load_idx(folder.with("y.gz", content)); });
  };
  for (size_t cut = 0; cut < good.size(); cut += 7) CHECK(reason(good.substr(0, cut)) != "");
  CHECK(reason(good.substr(0, good.size() - 1)) == "y.gz: the gzip data ends early");
  CHECK(reason(good + "garbage").find("y.gz: damaged gzip data") == 0);
  std::string flipped = good;
  flipped[good.size() / 2] ^= 0x10;
  CHECK(reason(flipped) != "");
  // Two gzip members form one stream: the sizes no longer match.
  CHECK(reason(good + good).find("more data than the 5000 bytes") != std::string::npos);
}

TEST_CASE("safetensors of every type survive a round trip") {
  Folder folder;
  const std::string path = folder.file("m.safetensors");
  NamedTensors tensors;
  const auto add = [&]<class T>(const char* name, std::vector<T> values, const Shape& shape) {
    tensors.emplace_back(name,
                         Tensor::from_bytes(values.data(), values.size() * sizeof(T), shape, dtype_of<T>));
  };
  add("w", std::vector<float>{1, -2, 0.5f, std::numeric_limits<float>::infinity(), 3, 4}, {2, 3});
  add("d", std::vector<double>{1e300}, {});
  add("h", std::vector<Half>{Half(1.5f), Half(-2.f)}, {2});
  add("b", std::vector<BFloat16>{BFloat16(1.5f)}, {1});
  add("l", std::vector<int64_t>{INT64_MIN, 7}, {2, 1});
  add("i", std::vector<int32_t>{-1}, {1});
  add("u", std::vector<uint8_t>{255, 0, 1}, {3});
  add("t", std::vector<uint8_t>{}, {0, 4});
  const unsigned char flags[2] = {1, 0};
  tensors.emplace_back("f", Tensor::from_bytes(flags, 2, {2}, DType::boolean));
  save_safetensors(path, tensors, {{"format", "pt"}, {"note", "\"quoted\"\n"}});

  const Safetensors back = load_safetensors(path);
  CHECK(back.metadata == std::map<std::string, std::string>{{"format", "pt"}, {"note", "\"quoted\"\n"}});
  REQUIRE(back.tensors.size() == tensors.size());
  for (const auto& [name, tensor] : tensors) {
    CAPTURE(name);
    const auto found = std::find_if(back.tensors.begin(), back.tensors.end(),
                                    [&, &wanted = name](const auto& entry) { return entry.first == wanted; });
    REQUIRE(found != back.tensors.end());
    CHECK(found->second.dtype() == tensor.dtype());
    CHECK(found->second.shape() == tensor.shape());
    CHECK((tensor.nbytes() == 0 || std::memcmp(found->second.raw(), tensor.raw(), tensor.nbytes()) == 0));
  }
  uint64_t length = 0;
  std::memcpy(&length, read_file(path).data(), 8);
  CHECK(length % 8 == 0);

  // Strided tensors are written in row-major order.
  Tensor x = Tensor::from<float>(std::vector<float>{1, 2, 3, 4}, {2, 2});
  save_safetensors(path,
                   {{"x", Tensor(x.storage_ref(), LayoutRef(new Layout({2, 2}, {1, 2})), 0, DType::f32)}});
  CHECK(load_safetensors(path).tensors[0].second.to_vector<float>() == std::vector<float>{1, 3, 2, 4});
}

TEST_CASE(
    "safetensors types without a matching dtype widen, and unsupported types are errors that name the "
    "tensor") {
  Folder folder;
  using namespace std::string_literals;
  const auto load = [&](const std::string& dtype, const std::string& data, bool skip = false) {
    return load_safetensors(folder.with("x", safetensors_bytes("{\"a\":{\"dtype\":\"" + dtype +
                                                                   "\",\"shape\":[1],\"data_offsets\":[0," +
                                                                   std::to_string(data.size()) + "]}}",
                                                               data)),
                            skip);
  };
  CHECK(load("I8", "\xff").tensors[0].second.item_integer() == -1);
  CHECK(load("I8", "\xff").tensors[0].second.dtype() == DType::i32);
  CHECK(load("I16", "\xfe\xff").tensors[0].second.item_integer() == -2);
  CHECK(load("U16", "\xff\xff").tensors[0].second.item_integer() == 65535);
  CHECK(load("U32", "\xff\xff\xff\xff").tensors[0].second.item_integer() == 4294967295);
  CHECK(load("U32", "\xff\xff\xff\xff").tensors[0].second.dtype() == DType::i64);
  CHECK(refusal([&] { load("U64", std::string(8, 'x')); }) ==
        "x: tensor 'a' has the unsupported type U64 (skip_unsupported = true leaves it out)");
  CHECK(load("U64", std::string(8, 'x'), true).tensors.empty());
  CHECK(refusal([&] { load("BOOL", "\x02"); }) == "x: tensor 'a': a boolean holds 2, not 0 or 1");
}

TEST_CASE("safetensors files that break one rule of the format are errors") {
  Folder folder;
  const auto reason = [&](const std::string& content) {
    return refusal([&] { load_safetensors(folder.with("x", content)); });
  };
  const auto header = [&](std::string_view text, std::string_view data = "") {
    return reason(safetensors_bytes(text, data));
  };
  const auto tensor = [](const std::string& name, const std::string& shape, const std::string& offsets,
                         const std::string& dtype = "U8") {
    return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape +
           ",\"data_offsets\":" + offsets + "}";
  };
  CHECK(header("{}") == "");
  CHECK(header("{} \n ") == "");
  CHECK(header("{" + tensor("a", "[2]", "[0,2]") + "," + tensor("b", "[]", "[2,3]") + "}", "xyz") == "");
  CHECK(header("{" + tensor("b", "[1]", "[2,3]") + "," + tensor("a", "[2]", "[0,2]") + "}", "xyz") == "");

  CHECK(reason("") == "x: not a safetensors file: 0 bytes are too few");
  CHECK(reason(std::string(8, '\xff')).find("is over the limit of 100000000") != std::string::npos);
  CHECK(reason(std::string("\x10\0\0\0\0\0\0\0{}", 10)) ==
        "x: ends within its header: 16 bytes declared, 2 found");
  CHECK(header("") == "x: not a safetensors file: its header does not start with '{'");
  CHECK(header(" {}") == "x: not a safetensors file: its header does not start with '{'");
  CHECK(header("[]") == "x: not a safetensors file: its header does not start with '{'");
  CHECK(header("{\"a\"") == "x: the header is not valid JSON at byte 5");
  CHECK(header("{}{}").find("not valid JSON") != std::string::npos);
  CHECK(header("{\"a\xff\":1}").find("not valid JSON") != std::string::npos);
  CHECK(header("{\"a\":1}") == "x: tensor 'a' is a number, not an object");
  CHECK(header("{\"a\":[1]}") == "x: tensor 'a' is a list, not an object");
  CHECK(header("{\"a\":null}") == "x: tensor 'a' is null, not an object");
  CHECK(header("{\"a\":{}}") == "x: tensor 'a' has no 'dtype'");
  CHECK(header("{\"a\":{\"dtype\":\"U8\",\"shape\":[1]}}", "x") == "x: tensor 'a' has no 'data_offsets'");
  CHECK(header("{\"a\":{\"dtype\":\"U8\",\"other\":[1]}}", "x") == "x: tensor 'a' has no 'shape'");
  CHECK(header("{\"a\":{\"dtype\":8}}") == "x: tensor 'a': 'dtype' holds a number");
  CHECK(header("{" + tensor("a", "[-1]", "[0,1]") + "}", "x") ==
        "x: tensor 'a': 'shape' holds a negative number");
  CHECK(header("{" + tensor("a", "[1.0]", "[0,1]") + "}", "x") == "x: tensor 'a': 'shape' holds a fraction");
  CHECK(header("{" + tensor("a", "[[1]]", "[0,1]") + "}", "x") == "x: tensor 'a': 'shape' holds a list");
  CHECK(header("{" + tensor("a", "[1]", "[0]") + "}", "x") ==
        "x: tensor 'a': 'data_offsets' is not a pair of begin and end");
  CHECK(header("{" + tensor("a", "[1]", "[1,0]") + "}", "x") ==
        "x: tensor 'a': 'data_offsets' is not a pair of begin and end");
  CHECK(header("{" + tensor("a", "[2]", "[0,1]") + "}", "x") ==
        "x: tensor 'a': its shape and type need 2 bytes, its offsets give 1");
  CHECK(header("{" + tensor("a", "[1]", "[0,1]") + "," + tensor("a", "[1]", "[1,2]") + "}", "xy") ==
        "x: 'a' appears twice");
  CHECK(header("{\"a\":{\"shape\":[1],\"shape\":[1]}}") == "x: tensor 'a': 'shape' appears twice");
  CHECK(header("{\"__metadata__\":{},\"__metadata__\":{}}") == "x: '__metadata__' appears twice");
  CHECK(header("{\"__metadata__\":{\"k\":\"v\",\"k\":\"w\"}}") == "x: metadata 'k' appears twice");
  CHECK(header("{\"__metadata__\":{\"k\":1}}") == "x: metadata 'k' is a number, not a string");
  CHECK(header("{" + tensor("a", "[1]", "[1,2]") + "}", "xy") ==
        "x: tensor 'a' begins at byte 1 of the data, where the one before leaves a hole from byte 0");
  CHECK(header("{" + tensor("a", "[2]", "[0,2]") + "," + tensor("b", "[2]", "[1,3]") + "}", "xyz") ==
        "x: tensor 'b' begins at byte 1 of the data, where the one before ends at byte 2");
  CHECK(header("{" + tensor("a", "[1]", "[0,1]") + "}", "xy") == "x: holds 2 bytes of data, 1 declared");
  CHECK(header("{" + tensor("a", "[2]", "[0,2]") + "}", "x") == "x: holds 1 bytes of data, 2 declared");
  // The product of these sizes wraps to 4 in 64 bits.
  CHECK(header("{" + tensor("a", "[4194305,4194305,211106198978564]", "[0,4]") + "}", "xxxx") ==
        "x: tensor 'a': its shape overflows");
  CHECK(header("{" + tensor("a", "[1,1,1,1,1,1,1,1,1]", "[0,1]") + "}", "x") ==
        "x: tensor 'a' has 9 dims, at most 8 are supported");
  CHECK(header("{\"a\":" + std::string(1000000, '[')) == "x: tensor 'a' is a list, not an object");
  CHECK(header("{\"a\":" + std::string(1000000, '{')).find("not valid JSON") != std::string::npos);
  CHECK(refusal([&] { load_safetensors(folder.file("absent")); }) ==
        "absent: cannot open: No such file or directory");
  CHECK(refusal([&] { load_safetensors("/dev/null"); }) ==
        "/dev/null: cannot open: it is not a regular file");
}

// The cases that the format's own reader (huggingface/safetensors, tensor.rs) loads and refuses. Ours is
// stricter where the format's text is: a header begins with '{' and has no key twice.
TEST_CASE("safetensors files load where the format's own reader loads them") {
  Folder folder;
  const std::string a = "\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]";
  const auto loads = [&](const std::string& header, const std::string& data) {
    Safetensors file;
    const std::string reason =
        refusal([&] { file = load_safetensors(folder.with("x", safetensors_bytes(header, data))); });
    CAPTURE(header);
    CAPTURE(reason);
    CHECK(file.metadata.empty());
    return reason.empty();
  };
  const auto with_b = [&](const std::string& shape, const std::string& offsets) {
    return "{" + a + "},\"b\":{\"dtype\":\"F32\",\"shape\":" + shape + ",\"data_offsets\":" + offsets + "}}";
  };
  CHECK(loads("{\"__metadata__\":null," + a + "}}", "xy"));
  CHECK(loads("{\"__metadata__\":null}", ""));
  CHECK(loads("{\"\\u005f_metadata__\":null," + a + "}}", "xy"));
  for (const char* other :
       {"1", "-1.5", "null", "\"text\"", "[[1],{\"y\":[{}]}]", "{\"dtype\":[],\"shape\":{}}"})
    CHECK(loads("{" + a + ",\"x\":" + other + "}}", "xy"));
  CHECK(loads("{" + a + "}}", "xy"));
  CHECK(loads("{" + a + "}} \n\t\r ", "xy"));
  CHECK(loads("{}", ""));
  CHECK(loads(with_b("[0]", "[2,2]"), "xy"));
  CHECK(loads(with_b("[3,0]", "[0,0]"), "xy"));
  CHECK(loads(with_b("[]", "[2,6]"), "xy1234"));  // not aligned
  CHECK_FALSE(loads(with_b("[0]", "[1,1]"), "xy"));
  CHECK_FALSE(loads(with_b("[1]", "[3,7]"), "xy?1234"));
  CHECK_FALSE(loads(with_b("[1]", "[2,6]"), "xy1234?"));
  for (const char* metadata : {"[]", "false", "0", "\"\"", "{\"k\":null}", "{\"k\":1}"})
    CHECK_FALSE(loads("{\"__metadata__\":" + std::string(metadata) + "," + a + "}}", "xy"));
  CHECK_FALSE(loads("{\"__metadata__\":null,\"__metadata__\":null," + a + "}}", "xy"));
  CHECK_FALSE(loads("{\"a\":null}", ""));
  CHECK_FALSE(loads("    ", ""));
  CHECK_FALSE(loads("{" + a + ",\"x\":" + std::string(200, '[') + std::string(200, ']') + "}}", "xy"));
}

TEST_CASE("a truncated safetensors file, or one with a flipped bit, loads exactly or is an error") {
  Folder folder;
  const std::string path = folder.file("m");
  save_safetensors(path, {{"w", Tensor::from<float>(std::vector<float>{1, 2, 3, 4}, {2, 2})},
                          {"b", Tensor::from<int64_t>(std::vector<int64_t>{5, 6}, {2})},
                          {"n", Tensor::from<uint8_t>(std::vector<uint8_t>{7, 8, 9}, {3})}});
  const std::string good = read_file(path);
  const auto attempt = [&](const std::string& content) {
    try {
      return load_safetensors(folder.with("y", content)).tensors.size();
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::file);
      return size_t(0);
    }
  };
  REQUIRE(attempt(good) == 3);
  size_t accepted = 0;
  for (size_t cut = 0; cut < good.size(); ++cut) accepted += attempt(good.substr(0, cut));
  CHECK(accepted == 0);

  uint64_t length = 0;
  std::memcpy(&length, good.data(), 8);
  for (size_t bit = 0; bit < 8 * (8 + size_t(length)); ++bit) {
    std::string bad = good;
    bad[bit / 8] = char(bad[bit / 8] ^ (1 << bit % 8));
    // A flipped bit in a name gives a valid file with the same values.
    NamedTensors tensors;
    try {
      tensors = load_safetensors(folder.with("y", bad)).tensors;
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::file);
      continue;
    }
    CAPTURE(bit);
    REQUIRE(tensors.size() == 3);
    CHECK(tensors[0].second.to_vector<int64_t>() == std::vector<int64_t>{5, 6});
    CHECK(tensors[1].second.to_vector<float>() == std::vector<float>{1, 2, 3, 4});
    CHECK(tensors[2].second.to_vector<uint8_t>() == std::vector<uint8_t>{7, 8, 9});
  }
}

TEST_CASE("a failed save leaves the old file unchanged") {
  Folder folder;
  const std::string path = folder.file("m");
  const Tensor x = Tensor::from<float>(std::vector<float>{1}, {1});
  save_safetensors(path, {{"x", x}});
  const std::string before = read_file(path);
  CHECK_THROWS_WITH(save_safetensors(path, {{"x", x}, {"x", x}}), "safetensors: two tensors are called 'x'");
  CHECK_THROWS_WITH(save_safetensors(path, {{"__metadata__", x}}),
                    "safetensors: a tensor cannot be called '__metadata__'");
  CHECK_THROWS_WITH(save_safetensors(path, {{"\xff", x}}),
                    "safetensors: a name or metadata text of 1 bytes is not valid UTF-8");
  CHECK(read_file(path) == before);
  CHECK(folder.count() == 1);
}

TEST_CASE("a full disk or a read-only folder leaves the old file unchanged, in every format") {
  Folder folder;
  const Tensor x = lunagrad::rand({200, 300});
  const Tensor image = to(mul(x, Tensor::number(255.0)), DType::u8);
  const std::pair<const char*, std::function<void(const std::string&)>> savers[] = {
      {"a.safetensors",
       [&](const std::string& path) {
         save_safetensors(path, {{"x", x}});
       }},
      {"a.npy", [&](const std::string& path) { save_npy(path, x); }},
      {"a.npz",
       [&](const std::string& path) {
         save_npz(path, {{"x", x}});
       }},
      {"b.npz",
       [&](const std::string& path) {
         save_npz(path, {{"x", x}}, true);
       }},
      {"a.csv", [&](const std::string& path) { save_csv(path, x); }},
      {"a.idx", [&](const std::string& path) { save_idx(path, x); }},
      {"a.idx.gz", [&](const std::string& path) { save_idx(path, x); }},
      {"a.png", [&](const std::string& path) { save_png(path, image); }},
  };
  // A limit on the file size makes the write fail in the middle, like a full disk.
  rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  for (const auto& [name, save] : savers) {
    CAPTURE(name);
    write_file(folder.file(name), "old");
    const rlimit small{20'000, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    const std::string full = refusal([&, &save = save] { save(folder.file(name)); });
    setrlimit(RLIMIT_FSIZE, &before);
    CHECK(full.find(std::string(name) + ": cannot write: ") == 0);
    CHECK(full.find("File too large") != std::string::npos);
    CHECK(read_file(folder.file(name)) == "old");
    CHECK(refusal([&, &save = save] { save(folder.file(std::string("no/") + name)); }) ==
          std::string("no/") + name + ": cannot write: No such file or directory");
    CHECK(refusal([&, &save = save] { save(std::string("/proc/") + name); }).find("cannot write: ") !=
          std::string::npos);
    save(folder.file(name));
    CHECK(std::filesystem::file_size(folder.file(name)) > 20'000);
  }
  std::signal(SIGXFSZ, handler);
  CHECK(folder.count() == std::size(savers));
}

TEST_CASE("texts are quoted for CSV and escaped for XML") {
  CHECK(csv_field("loss 1") == "loss 1");
  CHECK(csv_field("") == "");
  for (const std::string text : {"a,b", "a\nb", "a\rb"}) CHECK(csv_field(text) == '"' + text + '"');
  CHECK(csv_field("a \"b\"") == "\"a \"\"b\"\"\"");
  CHECK(xml_text("<a b=\"c\">&\xc3\x97</a>") == "&lt;a b=&quot;c&quot;&gt;&amp;\xc3\x97&lt;/a&gt;");
  CHECK(xml_text("1\t2\n\x1b[31m3") == "1\t2\n[31m3");
}

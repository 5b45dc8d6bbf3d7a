// Mutated files of arrays, objects, pictures and models.
#include <nlohmann/json.hpp>

#include "folders.h"
#include "runtime/io/csv.h"
#include "runtime/io/format.h"
#include "runtime/io/npz.h"
#include "runtime/io/pt.h"
#include "runtime/io/zip_archive.h"
#include "runtime/ops.h"
#include "tests/fuzz/reading.h"
#include "tests/support/gzip_bytes.h"
#include "tests/support/pickle_bytes.h"
#include "tests/support/zip_bytes.h"

using namespace lunagrad;
using namespace lunagrad::tests;
using namespace std::string_literals;

namespace {

void load_and_describe(const std::string& path) {
  const ReadersLimit limit;
  try {
    describe_file(path);
  } catch (const Error&) {
  }
  load_arrays(path, {});
}

FilePieces one(std::string bytes) { return {{"", std::move(bytes)}}; }

// The entries of an archive that the engine wrote.
FilePieces parts_of_zip(const std::string& path) {
  const ZipArchive archive(path, "archive");
  FilePieces parts;
  for (const ZipEntry& entry : archive.entries()) {
    ReadBudget budget(path);
    parts.push_back({entry.name, archive.content(entry, entry.name, budget)});
  }
  return parts;
}

std::string zip_of(const FilePieces& parts) {
  std::vector<HandMadeEntry> entries;
  for (const FilePiece& part : parts)
    entries.push_back(part.bytes.size() % 3 ? stored(part.name, part.bytes)
                                            : deflated(part.name, part.bytes));
  return zip_bytes(entries);
}

std::string npy(const std::string& type, const std::string& shape, const std::string& data,
                const char* order = "False") {
  return npy_bytes("{'descr': '" + type + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n",
                   data);
}

std::vector<FilePieces> arrays() {
  return {one(npy("<f4", "(2, 3)", std::string(24, 'x'))), one(npy(">i2", "(4,)", "abcdefgh", "True")),
          one(npy("|b1", "()", "\1")), one(npy("<c16", "(1, 2)", std::string(32, '\0'), "True")),
          one(npy("|u1", "(0, 3)", ""))};
}
const std::vector<std::string> kNpyWords = {
    "'descr'", "'shape'",       "'fortran_order'", "<f4", ">f8", "|b1", "<u4", "|O",
    "True",    "False",         "(2, 3)",          "(",   ")",   ",",   ":",   "{",
    "}",       "\x93NUMPY\1\0"s};
const std::vector<std::string> kHeaderWords = {
    "{",    "}",  "[",     "]",   ":",     ",",    "\"",      "null",
    "true", "-1", "1e400", "0.5", "\"a\"", "\"\"", "\\u0000", "18446744073709551616",
    "\xff"};
const std::vector<std::pair<std::string, std::string>> kHeaderNests = {
    {"[", "]"}, {"{\"a\":", "}"}, {"[[1],", "]"}};

std::vector<std::string> with(std::vector<std::string> words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

}  // namespace

TEST_CASE("mutated npy files") {
  read_mutated({.file = "x.npy",
                .good = arrays(),
                .words = kNpyWords,
                .nests = {{"(", ")"}, {"{'a': ", "}"}},
                .assemble = first_part,
                .read = load_and_describe});
}

TEST_CASE("mutated npz archives") {
  FilePieces all;
  for (const FilePieces& array : arrays())
    all.push_back({std::to_string(all.size()) + ".npy", array[0].bytes});
  read_mutated({.file = "x.npz",
                .good = {all, {all[0]}},
                .words = with(kNpyWords, {"PK\1\2", "PK\3\4", "PK\5\6", "PK\6\7", ".npy"}),
                .nests = {{"(", ")"}},
                .assemble = zip_of,
                .read = load_and_describe});
}

TEST_CASE("mutated idx files") {
  const std::vector<FilePieces> good = {
      one(idx_header(8, {2, 3}) + "abcdef"), one(idx_header(0x0d, {4}) + std::string(16, '\1')),
      one(idx_header(0x0b, {1, 1, 2}) + "abcd"), one(idx_header(0x0e, {0}))};
  read_mutated({.file = "x.idx",
                .good = good,
                .words = {"\0\0\x08\1"s, "\xff\xff\xff\xff"},
                .nests = {},
                .assemble = first_part,
                .read = load_and_describe});
  read_mutated({.file = "x.idx.gz",
                .good = good,
                .words = {"\0\0\x08\1"s, "\xff\xff\xff\xff", "\x1f\x8b\x08"},
                .nests = {},
                .assemble = [](const FilePieces& parts) { return gzip_bytes(first_part(parts)); },
                .read = load_and_describe});
}

TEST_CASE("mutated csv files") {
  read_mutated({.file = "x.csv",
                .good = {one("1,2\n3,4\n"), one("a,b,c\n1,-2.5e3,+3\n4,5,6\n"), one("1\n"),
                         one("\xef\xbb\xbf"
                             "1,2\r\n3,4\r\n")},
                .words = {",", "\n", "\r\n", ";", "nan", "inf", "1e999", "-", "+", "0x1", "\"", "\t", "\0"s},
                .nests = {{"\"", "\""}},
                .assemble = first_part,
                .read = [](const std::string& path) {
                  const ReadersLimit limit;
                  for (const bool header : {false, true})
                    for (const char delimiter : {',', ';'}) {
                      try {
                        load_csv(path, {.header = header,
                                        .delimiter = delimiter,
                                        .dtype = header ? DType::i64 : DType::f64});
                      } catch (const Error&) {
                      }
                    }
                  describe_file(path);
                }});
}

TEST_CASE("mutated png images") {
  const auto image = [](const PngKind& kind, const std::string& raw, const FilePieces& more = {}) {
    FilePieces parts{{"IHDR", png_header(kind).substr(8, 13)}};
    parts.insert(parts.end(), more.begin(), more.end());
    parts.push_back({"IDAT", raw});
    parts.push_back({"IEND", ""});
    return parts;
  };
  const auto assemble = [](const FilePieces& parts) {
    std::string out = kPngStart;
    for (const FilePiece& part : parts) {
      std::string type = part.name;
      type.resize(4, 'a');
      out += png_chunk(type, type == "IDAT" ? zlib_packed(part.bytes) : part.bytes);
    }
    return out;
  };
  read_mutated(
      {.file = "x.png",
       .good = {image({3, 2, 8, 0}, "\0\1\2\3\0\4\5\6"s), image({2, 2, 16, 6}, std::string(34, '\0')),
                image({5, 2, 1, 3}, "\0\xaa\0\xaa"s, {{"PLTE", "\1\2\3\4\5\6"}, {"tRNS", "\7"}}),
                image({9, 9, 8, 2, 1}, std::string(300, '\0')),
                image({2, 1, 8, 4}, "\0\1\2\3\4"s,
                      {{"tEXt", "Title\0words"s},
                       {"zTXt", "a\0\0"s + zlib_packed("words")},
                       {"gAMA", "\0\1\x86\xa0"s}})},
       .words = {"IDAT", "IHDR", "IEND", "PLTE", "tRNS", "iCCP", "zTXt", "eXIf", "\x89PNG"},
       .nests = {},
       .assemble = assemble,
       .read = load_and_describe});
}

TEST_CASE("mutated pgm and ppm images") {
  read_mutated(
      {.file = "x.pgm",
       .good = {one("P5\n3 2\n255\nabcdef"), one("P6 # words\n1 1 65535\nabcdef"), one("P5 2 1 7\nab")},
       .words = {"P5", "P6", "#", "\n", " ", "255", "65535", "1000000", "4294967296"},
       .nests = {},
       .assemble = first_part,
       .read = load_and_describe});
}

TEST_CASE("mutated pt files") {
  const Folder folder;
  PtValue::Dict dict{
      {{std::string("w")}, {ones({2, 2})}},
      {{int64_t(7)}, {PtValue::List{{true}, {0.5}, {std::string("text")}, {std::monostate()}}}},
      {{std::string("h")}, {to(ones({3}), DType::f16)}}};
  save_pt(folder.file("x.pt"), {dict});
  const std::string four(16, '\1');
  const auto by_hand = [&](const std::string& pickle) {
    return FilePieces{{"a/data.pkl", pickle}, {"a/data/0", four}, {"a/byteorder", "little"}};
  };
  ReadingScript script;
  read_mutated({.file = "x.pt",
                .good = {parts_of_zip(folder.file("x.pt")),
                         parts_of_zip(LUNAGRAD_SOURCE_DIR "/tests/reference/checkpoint.pt"),
                         by_hand("\x80\2](" + pickle_tensor("(K\2K\2t", "(K\2K\1t") +
                                 pickle_tensor("ctorch\nSize\n((K\4ttR", "(K\1t", "ShortStorage") + "e."),
                         by_hand("\x80\2}q\0("s + pickle_text("key") +
                                 "q\1ccollections\nOrderedDict\n(((h\1K\1tltRq\2h\1h\2h\1h\2u."s)},
                .words = {"(",
                          ")",
                          "]",
                          "}",
                          "e",
                          "u",
                          "s",
                          "t",
                          "l",
                          "R",
                          "Q",
                          "N",
                          "2",
                          "0",
                          "1",
                          "b",
                          "a",
                          "h\0"s,
                          "h\1",
                          "q\0"s,
                          "q\1",
                          "r\0\0\0\0"s,
                          "\x85",
                          "\x86",
                          "\x93",
                          "\x94",
                          "K\1",
                          "J\xff\xff\xff\x7f",
                          "\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f",
                          "ctorch\nSize\n",
                          "ctorch\nFloatStorage\n",
                          "ctorch\nBoolStorage\n",
                          "ctorch._utils\n_rebuild_tensor_v2\n",
                          "ctorch._utils\n_rebuild_tensor_v3\n",
                          "ctorch._utils\n_rebuild_parameter\n",
                          "ctorch._tensor\n_rebuild_from_type_v2\n",
                          "ccollections\nOrderedDict\n",
                          "cargparse\nNamespace\n",
                          "cbuiltins\nset\n",
                          "c_codecs\nencode\n",
                          "X\3\0\0\0abc"s,
                          "G\x7f\xf0\0\0\0\0\0\0"s,
                          "PK\1\2",
                          "PK\5\6"},
                .nests = {{"(", "t"},
                          {"(", "l"},
                          {"]", "a"},
                          {"}K\1", "s"},
                          {"ctorch\nSize\n(", "tR"},
                          {"ccollections\nOrderedDict\n(((K\1", "tltR"}},
                .assemble = zip_of,
                .read = [&](const std::string& path) {
                  {
                    const size_t before = memory_limit().bytes;
                    try {
                      describe_file(path);
                    } catch (const Error&) {
                    }
                    CHECK(memory_limit().bytes == before);
                  }
                  script.run("return lg.io.load(path)", path);
                }});
}

TEST_CASE("mutated safetensors, and tables and checkpoints in them") {
  const auto header_and_data = [](const FilePieces& parts) {
    return safetensors_bytes(first_part(parts), parts.size() > 1 ? parts[1].bytes : "");
  };
  const std::string a = R"("a":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]})",
                    b = R"("b":{"dtype":"I8","shape":[3],"data_offsets":[8,11]})";
  const std::vector<std::string> words =
      with(kHeaderWords, {"\"dtype\"", "\"shape\"", "\"data_offsets\"", "\"__metadata__\"", "\"F64\"",
                          "\"BOOL\"", "\"U16\"", "[0,8]", "[]", "\"tensor\"", "\"table\"", "\"bytes\"",
                          "\"number\"", "\"nan\"", "\"format\"", "\"shards\""});
  ReadingScript script;
  const auto load = [&](const std::string& path) {
    try {
      describe_file(path);
    } catch (const Error&) {
    }
    script.run("return lg.io.load(path)", path);
  };
  read_mutated(
      {.file = "x.safetensors",
       .good = {{{"header", "{" + a + "," + b + "}"}, {"data", "abcdefghijk"}},
                {{"header",
                  R"({"__metadata__":{"k":"v"},"x":{"dtype":"BOOL","shape":[],"data_offsets":[0,1]}}   )"},
                 {"data", "\1"}},
                {{"header", "{}"}, {"data", ""}}},
       .words = words,
       .nests = kHeaderNests,
       .assemble = header_and_data,
       .read = load});
  // The description of a table is a text within the header.
  const auto table = [](const FilePieces& parts) {
    const std::string text =
        nlohmann::json(first_part(parts)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    return safetensors_bytes("{\"__metadata__\":{\"lunagrad\":" + text +
                                 R"(},"m.w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
                             parts.size() > 1 ? parts[1].bytes : "");
  };
  read_mutated(
      {.file = "checkpoint.safetensors",
       .good =
           {{{"description",
              R"([1,2.5,"three",true,{"tensor":"m.w"},{"number":"nan"},{"bytes":"00ff"},[[]]])"},
             {"data", "abcdefgh"}},
            {{"description",
              R"({"table":[["format","lunagrad checkpoint"],["version",1],["step",3],["states",{"table":[["w",{"tensor":"m.w"}]]}],)"
              R"(["rng",{"table":[["seed",1],["stream",2]]}],["params",{"table":[]}],[1,2],[false,{"tensor":"m.w"}]]})"},
             {"data", "abcdefgh"}}},
       .words = words,
       .nests = {{"[", "]"}, {"{\"table\":[[1,", "]]}"}},
       .assemble = table,
       .read = load});
}

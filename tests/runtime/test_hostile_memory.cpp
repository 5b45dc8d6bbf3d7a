// Files that ask for more memory or recursion than their size justifies, and files that do not fit the memory
// limit of a sandbox: each is an error that names the file, and memory does not grow.
#include <doctest/doctest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "runtime/core/memory_limit.h"
#include "runtime/core/tensor.h"
#include "runtime/io/csv.h"
#include "runtime/io/format.h"
#include "runtime/io/idx.h"
#include "runtime/io/json_text.h"
#include "runtime/io/npz.h"
#include "runtime/io/png.h"
#include "runtime/io/pt.h"
#include "runtime/io/safetensors.h"
#include "tests/support/gzip_bytes.h"
#include "tests/support/pickle_bytes.h"
#include "tests/support/resident.h"
#include "tests/support/sanitizers.h"
#include "tests/support/zip_bytes.h"

using namespace lunagrad;
using namespace lunagrad::tests;
using namespace std::string_literals;

namespace {

constexpr size_t kMiB = size_t(1) << 20;

std::string times(size_t count, const std::string& part) {
  std::string out;
  out.reserve(count * part.size());
  for (size_t i = 0; i < count; ++i) out += part;
  return out;
}

std::string pt_bytes(const std::string& pickle, const std::string& storage = std::string(16, '\0')) {
  return zip_bytes({stored("a/data.pkl", pickle), stored("a/data/0", storage)});
}

// Loads a file under a limit of 32 MiB.
void check_limited(const std::string& name, const std::string& content,
                   const std::function<void(const std::string&)>& load) {
  CAPTURE(name);
  Folder folder;
  const std::string path = folder.with(name, content);
  const ResidentPeak resident;
  set_memory_limit({32 * kMiB, nullptr});
  std::string reason;
  try {
    load(path);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::memory);
    reason = error.what();
  }
  const size_t held = memory_in_use();
  set_memory_limit({});
  CAPTURE(reason);
  CHECK(reason.find("within the limit of 32 MiB") != std::string::npos);
  CHECK(held < 4 * kMiB + pool_bytes() + interned_bytes());
  if (!kSanitized) CHECK(resident.grown() < 40 * kMiB + content.size());
}

}  // namespace

TEST_CASE("a pickle whose values repeat each other is refused, and takes no memory") {
  // Each dict holds the dict before it in ten pairs; "h" recalls a value by its number.
  std::string laughs = "\x80\2", last = "K\1";
  for (int i = 0; i < 60; ++i) {
    laughs += "ccollections\nOrderedDict\n((" + times(10, "(K\1" + last + "t") + "ltRq" + char(i) + "0";
    last = "h"s + char(i);
  }
  // A dict within a dict, each under the same long key: the names of the tensors within are long, too.
  const std::string big = pickle_text(std::string(100000, 'k'));
  std::string keys = "\x80\2" + big + "q\0000"s, inner = "K\1";
  for (int i = 1; i < 90; ++i) {
    keys += "}h\0"s + inner + "sq" + char(i) + "0";
    inner = "h"s + char(i);
  }
  // A shape that is a torch.Size of itself.
  const std::string own_size =
      "ctorch\nSize\n]q\5Rq\6"
      "0h\5h\6a0";
  const struct {
    const char* what;
    std::string pickle, reason;
  } cases[] = {
      {"ten times the one before", laughs + last + ".", "repeat each other"},
      {"a shape that holds itself", "\x80\2" + own_size + pickle_tensor("h\6", "(K\1t") + ".",
       "a shape is no list"},
      {"strides that hold themselves", "\x80\2" + own_size + pickle_tensor("(K\1t", "h\6") + ".",
       "a shape is no list"},
      {"a list that holds itself", "\x80\2]q\0h\0a."s, "within each other"},
      {"a set that holds itself",
       "\x80\2"
       "cbuiltins\nset\n]q\1Rq\2"
       "0h\1h\2a0h\2.",
       "within each other"},
      {"a type that is rebuilt from itself",
       "\x80\2"
       "ctorch._tensor\n_rebuild_from_type_v2\nq\0]q\1(h\0Nh\1Ne0h\0h\1R."s,
       "within each other"},
      {"a text 9000 times", "\x80\2](" + big + "q\0"s + times(9000, "h\0"s) + "e.", "repeat each other"},
      {"a text doubled 9000 times", "\x80\2](" + big + times(9000, "2") + "e.", "repeat each other"},
      {"a long name of a function", "\x80\4](" + big + "q\0"s + times(9000, "h\0h\0\x93"s) + "e.",
       "the name of a function"},
      {"long names within each other", keys + inner + ".", "repeat each other"},
      {"a memo of a list 100000 times",
       "\x80\2](" + times(1000, "K\1") + "eq\0]("s + times(100000, "h\0"s) + "e.", "repeat each other"},
  };
  for (const auto& one : cases) {
    CAPTURE(one.what);
    Folder folder;
    const std::string path = folder.with("x.pt", pt_bytes(one.pickle));
    const ResidentPeak resident;
    const std::string reason = refusal([&] { describe_file(path); });
    CAPTURE(reason);
    CHECK(reason.find("x.pt: ") == 0);
    CHECK(reason.find(one.reason) != std::string::npos);
    if (!kSanitized) CHECK(resident.grown() < 24 * kMiB + 300 * one.pickle.size());
  }
}

TEST_CASE("what a small archive unpacks to is limited where the format packs nothing") {
  Folder folder;
  const std::string nones = "\x80\2](" + std::string(50 * kMiB, 'N') + "e.";
  const std::string path = folder.with("x.pt", zip_bytes({deflated("a/data.pkl", nones)}));
  // Only the first bytes of the entry with the byte order matter.
  const std::string other = folder.with(
      "y.pt",
      zip_bytes({stored("a/data.pkl", "\x80\2K\7."), deflated("a/byteorder", std::string(50 * kMiB, 'l'))}));
  const ResidentPeak resident;
  CHECK(refusal([&] { load_pt(path); }).find("its size does not justify") != std::string::npos);
  CHECK(std::get<int64_t>(load_pt(other).value) == 7);
  if (!kSanitized) CHECK(resident.grown() < 24 * kMiB);
}

TEST_CASE("the memory limit counts what readers of files hold") {
  check_limited("x.pt", pt_bytes("\x80\2](" + std::string(2'000'000, 'N') + "e."),
                [](const std::string& path) { load_pt(path); });
  check_limited("lists.pt", pt_bytes("\x80\2(" + std::string(400'000, ']') + "l."),
                [](const std::string& path) { load_pt(path); });
  check_limited("x.npz",
                zip_bytes({deflated(
                    "a.npy", npy_bytes("{'descr': '<f4', 'fortran_order': False, 'shape': (16777216,), }",
                                       std::string(64 * kMiB, '\0')))}),
                [](const std::string& path) { load_npz(path); });
  {
    std::vector<HandMadeEntry> entries;
    for (int i = 0; i < 60000; ++i) entries.push_back(stored(std::to_string(i) + ".npy", ""));
    check_limited("entries.npz", zip_bytes(entries), [](const std::string& path) { describe_file(path); });
  }
  {
    std::string header = "{\"__metadata__\":{\"0\":\"\"";
    for (int i = 1; i < 250'000; ++i) header += ",\"" + std::to_string(i) + "\":\"\"";
    check_limited("x.safetensors", safetensors_bytes(header + "}}", ""),
                  [](const std::string& path) { load_safetensors(path); });
  }
  check_limited("x.csv", std::string(800'000, ',') + "\n1\n",
                [](const std::string& path) { load_csv(path, {.header = true}); });
  check_limited("rows.csv", times(4'000'000, "1\n"), [](const std::string& path) { load_csv(path); });
  check_limited("x.idx.gz", gzip_bytes(idx_header(8, {64 * kMiB}) + std::string(64 * kMiB, '\0')),
                [](const std::string& path) { load_idx(path); });
  check_limited("x.png", png_bytes({8000, 8000, 8, 0}, std::string(8000 * 8001, '\0')),
                [](const std::string& path) { load_png(path); });
  check_limited("x.pgm", "P5 3000 2000 65535\n" + std::string(12'000'000, '\1'),
                [](const std::string& path) { load_arrays(path, {}); });
  check_limited("x.json", "[" + times(500'000, "[],") + "1]",
                [](const std::string& path) { parse_json<nlohmann::json>(read_file(path), path); });
  check_limited("large.json", std::string(40 * kMiB, ' '), [](const std::string& path) { read_file(path); });
}

TEST_CASE("the nesting of a JSON text is counted, and its memory bounded from above") {
  using Json = nlohmann::ordered_json;
  for (const char* open : {"[", "{\"a\":"}) {
    const std::string close = open[0] == '[' ? "]" : "}";
    const auto nested = [&](size_t depth) { return times(depth, open) + "1" + times(depth, close); };
    CHECK(extent_of_json(nested(7)).depth == 7);
    CHECK_FALSE(read_json<Json>(nested(size_t(kDeepestJson))).is_discarded());
    CHECK(read_json<Json>(nested(size_t(kDeepestJson) + 1)).is_discarded());
    CHECK(read_json<Json>(nested(1'000'000)).is_discarded());
    CHECK(refusal([&] { parse_json<Json>(nested(100'000), "x.json"); }) ==
          "x.json: 100000 lists and objects within each other; at most 400 are read");
  }
  CHECK(extent_of_json("{\"a[[[\":\"\\\"[[\\\\\"}").depth == 1);
  CHECK(extent_of_json("[[]][[").depth == 2);
  if (kSanitized) return;
  for (const std::string& text :
       {"[" + times(200'000, "[],") + "1]", "[" + times(200'000, "\"\",") + "1]",
        "[" + times(200'000, "{\"a\":1},") + "1]", "[" + times(200'000, "1,") + "1]"}) {
    const ResidentPeak resident;
    const Json json = Json::parse(text);
    CHECK(resident.grown() < extent_of_json(text).bytes + kMiB);
  }
}

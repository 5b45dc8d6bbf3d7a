// Checksums, and files that have them: whatever the damage, loading a file gives the saved values or an
// error.
#include <doctest/doctest.h>

#include <cstring>
#include <numeric>
#include <set>

#include "runtime/io/checksum.h"
#include "runtime/io/safetensors.h"
#include "runtime/ops.h"
#include "tests/support/damage.h"
#include "tests/support/files.h"
#include "tests/support/timing.h"

using namespace lunagrad;
using namespace lunagrad::tests;

namespace {

constexpr size_t kPiece = size_t(1) << 17;

NamedTensors sample() {
  std::vector<float> weights(3000);
  std::iota(weights.begin(), weights.end(), -7.5f);
  const unsigned char flags[3] = {1, 0, 1};
  return {{"fc1.weight", Tensor::from<float>(weights, {30, 100})},
          {"fc1.bias", Tensor::from<float>(std::vector<float>(30, 0.5f), {30})},
          {"steps", Tensor::from<int64_t>(std::vector<int64_t>{40, -1}, {2})},
          {"empty", Tensor::from<double>(std::vector<double>{}, {0, 4})},
          {"mask", Tensor::from_bytes(flags, 3, {3}, DType::boolean)}};
}

bool same_tensors(const Safetensors& a, const Safetensors& b) {
  if (a.metadata != b.metadata || a.tensors.size() != b.tensors.size()) return false;
  for (size_t i = 0; i < a.tensors.size(); ++i) {
    const auto& [name, x] = a.tensors[i];
    const auto& [other, y] = b.tensors[i];
    if (name != other || x.dtype() != y.dtype() || !(x.shape() == y.shape())) return false;
    if (x.nbytes() > 0 && std::memcmp(x.raw(), y.raw(), x.nbytes()) != 0) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("a checksum changes with each bit and with the length, in every piece of large data") {
  std::string bytes(2 * kPiece + 77, 'x');
  std::set<uint64_t> seen{checksum_of(bytes.data(), bytes.size())};
  size_t made = 1;
  for (const size_t at : {size_t(0), kPiece - 1, kPiece, 2 * kPiece - 1, 2 * kPiece, bytes.size() - 1})
    for (int bit = 0; bit < 8; ++bit, ++made) {
      bytes[at] = char(bytes[at] ^ (1 << bit));
      seen.insert(checksum_of(bytes.data(), bytes.size()));
      bytes[at] = char(bytes[at] ^ (1 << bit));
    }
  for (const size_t count : {size_t(0), size_t(1), kPiece - 1, kPiece, kPiece + 1, 2 * kPiece}) {
    seen.insert(checksum_of(bytes.data(), count));
    ++made;
  }
  CHECK(seen.size() == made);

  Folder folder;
  const std::string path = folder.with("x", "ab" + bytes);
  std::string back(bytes.size(), '\0');
  CHECK(read_with_checksum(InputFile(path), back.data(), 2, back.size()) ==
        checksum_of(bytes.data(), bytes.size()));
  CHECK(back == bytes);
}

TEST_CASE("checksums of files do not change from version to version") {
  std::string bytes(kPiece + 5, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = char(i * 7 + i / 251);
  CHECK(checksum_text(checksum_of(bytes.data(), 3)) == "7189ed9d600ac63b");
  CHECK(checksum_text(checksum_of(bytes.data(), bytes.size())) == "6b88a70106f8483a");
}

TEST_CASE("a damaged safetensors file gives what was saved, or an error that names the part") {
  Folder folder;
  const std::string path = folder.file("m.safetensors");
  save_safetensors(path, sample(), {{"lunagrad", "[1,2.5,{\"tensor\":\"fc1.weight\"}]"}});
  const std::string good = read_file(path);
  const Safetensors saved = load_safetensors(path);
  CHECK(saved.has_checksums);
  CHECK(saved.metadata.size() == 1);

  std::mt19937_64 random(7);
  const int count = long_run() ? 20000 : 600;
  int silent = 0, named = 0;
  for (int i = 0; i < count; ++i) {
    const Damaged bad = damaged(good, random);
    CAPTURE(bad.what);
    folder.with("x", bad.content);
    Safetensors got;
    const std::string why = refusal([&] { got = load_safetensors(folder.file("x")); });
    if (why.empty()) {
      silent += !same_tensors(got, saved);
    } else {
      CHECK(why.starts_with("x: "));
      named += why.find("is damaged: its checksum") != why.npos;
    }
  }
  CHECK(silent == 0);
  CHECK(named > count / 3);

  // The error names the tensor.
  std::string bad = good;
  bad[bad.size() - 1] = char(bad[bad.size() - 1] ^ 1);
  CHECK(refusal([&] { load_safetensors(folder.with("x", bad)); }) ==
        "x: tensor 'mask' is damaged: its checksum is another one");
  bad = good;
  bad[bad.size() - 200] = char(bad[bad.size() - 200] ^ 0x10);
  CHECK(refusal([&] { check_safetensors(folder.with("x", bad)); }) ==
        "x: tensor 'fc1.weight' is damaged: its checksum is another one");
  CHECK(refusal([&] { check_safetensors(path); }).empty());
}

TEST_CASE("files without checksums, and those that another program changed, are read") {
  Folder folder;
  const std::string path = folder.file("m.safetensors");
  save_safetensors(path, {{"x", Tensor::from<float>(std::vector<float>{1, 2}, {2})}}, {{"note", "n"}});
  std::string bytes = read_file(path);
  // Another program keeps the metadata and writes them without spaces, and pads the header.
  const size_t space = bytes.find("\": {"), end = bytes.find("}}");
  bytes.insert(end + 2, 1, ' ');
  bytes.erase(space + 2, 1);
  bytes[bytes.size() - 1] = 0x41;
  const Safetensors changed = load_safetensors(folder.with("x", bytes));
  CHECK(!changed.has_checksums);
  CHECK(changed.metadata == std::map<std::string, std::string>{{"note", "n"}});
  CHECK(changed.tensors[0].second.to_vector<float>()[1] == 8.0f);

  const std::string header = R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  const Safetensors old = load_safetensors(folder.with("x", safetensors_bytes(header, "abcdefgh")));
  CHECK(!old.has_checksums);
  CHECK(old.tensors.size() == 1);

  // The name of the entry alone is damaged.
  bytes = read_file(path);
  bytes[bytes.find("lunagrad.checksums")] = 'm';
  CHECK(refusal([&] { load_safetensors(folder.with("x", bytes)); }) ==
        "x: the header is damaged: the entry of its checksums is");
  // Its name, its value and a number are damaged.
  bytes[bytes.find("hash64")] = 'H';
  bytes[bytes.size() - 1] = 0x41;
  CHECK(refusal([&] { load_safetensors(folder.with("x", bytes)); }) ==
        "x: the header is damaged: the entry of its checksums is");
}

TEST_CASE("large tensors, summed while they are written, are read back") {
  Folder folder;
  const std::string path = folder.file("m.safetensors");
  const Tensor x = lunagrad::rand({3, 400'000}), turned = transpose(x, 0, 1);
  save_safetensors(path, {{"x", x}, {"turned", turned}, {"u", to(x, DType::u8)}});
  const Safetensors back = load_safetensors(path);
  CHECK(back.has_checksums);
  for (const auto& [name, tensor] : back.tensors)
    if (name == "turned") CHECK(tensor.to_vector<float>() == contiguous(turned).to_vector<float>());
  std::string bad = read_file(path);
  bad[bad.size() / 2] = char(bad[bad.size() / 2] ^ 2);
  CHECK(refusal([&] { load_safetensors(folder.with("x", bad)); }).find("is damaged") != std::string::npos);
}

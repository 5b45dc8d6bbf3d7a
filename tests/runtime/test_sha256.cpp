// SHA-256: the examples of FIPS 180-4, and texts that end around a block's end.
#include <doctest/doctest.h>

#include <algorithm>

#include "runtime/io/sha256.h"
#include "tests/support/program.h"

using namespace lunagrad;

namespace {

std::string hash(const std::string& text, size_t piece) {
  Sha256 sum;
  for (size_t at = 0; at < text.size(); at += piece)
    sum.add(text.data() + at, std::min(piece, text.size() - at));
  return sum.finish();
}

}  // namespace

TEST_CASE("SHA-256 gives the values of its standard") {
  CHECK(hash("", 1) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(hash("abc", 3) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(hash("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 5) ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(hash(std::string(1000000, 'a'), 999) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("pieces of any length give the same SHA-256, and a file that of its content") {
  const test::Folder folder;
  for (const size_t length : {1, 55, 56, 63, 64, 65, 119, 120, 128, 1 << 20, (1 << 20) + 1}) {
    std::string text(length, 'x');
    for (size_t i = 0; i < length; ++i) text[i] = char(i * 7 + i / 256);
    CAPTURE(length);
    CHECK(hash(text, 1) == hash(text, length));
    CHECK(sha256_of_file(folder.write("x", text)) == hash(text, 13));
  }
}

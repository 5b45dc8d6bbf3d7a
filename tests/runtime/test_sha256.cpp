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

TEST_CASE("pieces of any length give the same SHA-256, and a file has its content's") {
  const test::Folder folder;
  for (const size_t length : {1, 55, 56, 63, 64, 65, 119, 120, 128, 1 << 20, (1 << 20) + 1}) {
    std::string text(length, 'x');
    for (size_t i = 0; i < length; ++i) text[i] = char(i * 7 + i / 256);
    CAPTURE(length);
    CHECK(hash(text, 1) == hash(text, length));
    CHECK(sha256_of_file(folder.write("x", text)) == hash(text, 13));
  }
}

TEST_CASE("HMAC-SHA-256 gives the values of RFC 4231") {
  CHECK(HmacSha256(std::string(20, '\x0b')).mark("Hi There") ==
        "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  CHECK(HmacSha256("Jefe").mark("what do ya want for nothing?") ==
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  CHECK(HmacSha256(std::string(131, '\xaa')).mark("Test Using Larger Than Block-Size Key - Hash Key First") ==
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

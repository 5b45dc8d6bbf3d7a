#pragma once
// The user's secret key. With it the program marks files that it writes and will later run, or whose file
// names it will follow. Without the key no mark can be made, so a run without a mark comes from elsewhere.
// The key is the file trust/key in $XDG_DATA_HOME/lunagrad, which only the user may read. Any thread.
#include <memory>
#include <string>
#include <string_view>

#include "runtime/io/sha256.h"

namespace lunagrad {

// $XDG_DATA_HOME/lunagrad/trust, by default in ~/.local/share; "" when the user has no home.
std::string trust_folder();

class TrustKey {
 public:
  explicit TrustKey(std::string_view key) : hash_(key) {}
  // Null when the user has no key; `why` is then set to the reason, a clause. Does not make a key.
  static std::shared_ptr<const TrustKey> find(std::string& why);
  // Makes the key when there is none. Null when that is not possible, for example without a home.
  static std::shared_ptr<const TrustKey> make();

  // 64 hexadecimal digits, a keyed hash of the three texts. `purpose` and `after` contain no line break;
  // `after` is the preceding text or mark, so that texts keep their order.
  std::string mark(std::string_view purpose, std::string_view after, std::string_view text) const;

 private:
  const HmacSha256 hash_;
};

// Contents of others that the user has chosen to trust, by SHA-256. They are listed beside the key.
bool is_trusted(const std::string& content);
// `name` is a description for the list. Does nothing if the list cannot be written.
void remember_trust(const std::string& content, const std::string& name);

}  // namespace lunagrad

#pragma once
// The user's secret key. The program marks with it what it writes and later runs again, or reads names of
// files from. Who lacks the key can make no mark, so a run without one comes from elsewhere. The key is the
// file trust/key in $XDG_DATA_HOME/lunagrad, which only the user may read. Any thread.
#include <memory>
#include <string>
#include <string_view>

#include "runtime/io/sha256.h"

namespace lunagrad {

// $XDG_DATA_HOME/lunagrad/trust, by default in ~/.local/share; "" when the user has no home.
std::string trust_folder();

class Notary {
 public:
  explicit Notary(std::string_view key) : hash_(key) {}
  // Null when the user has no key; then `why` gets the reason, a clause. Does not make one.
  static std::shared_ptr<const Notary> find(std::string& why);
  // Makes the key when there is none. Null when that is not possible, as without a home.
  static std::shared_ptr<const Notary> make();

  // 64 hexadecimal digits that follow from the key and all three. `purpose` and `after` hold no line break;
  // `after` is what stands before, so that texts keep their order.
  std::string mark(std::string_view purpose, std::string_view after, std::string_view text) const;

 private:
  const HmacSha256 hash_;
};

// Foreign contents that the user has said to trust, by their SHA-256. They are kept beside the key.
bool is_trusted(const std::string& content);
// `name` says in that list what it was. Does nothing where the list cannot be written.
void remember_trust(const std::string& content, const std::string& name);

}  // namespace lunagrad

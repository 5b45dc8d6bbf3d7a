#pragma once
// A user with runs of the user's own script and a secret beside them, and an attacker, who has another key.
// For tests of the rights of other owners' runs.
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/program.h"

namespace lunagrad::test {

// The honest script: a number for each step, with a module and a file of data.
extern const char* const kHonest;
// The attacker's script. It looks for the secret below the paths in its arguments, keeps its finds in the
// global STOLEN and prints them; outside of the sandbox it makes the file of its first argument.
extern const char* const kEvil;
// The secret: what a script finds in it, and what no output may hold.
inline const std::string kSecret = "31337";

class TwoUsers {
 public:
  TwoUsers();

  const Folder folder;  // the victim's working folder
  std::string at(const std::string& name) const { return folder.path() + "/" + name; }
  const std::string secret, pwned;  // absolute paths

  // With the victim's key, or with the attacker's, whose programs run in the folder `theirs`.
  Finished run(const std::vector<std::string>& arguments) const;
  Finished as_attacker(const std::vector<std::string>& arguments) const;
  // A run `theirs/NAME` of the evil script, with the paths where it looks for the secret.
  std::string evil_run(const std::string& name, const std::vector<std::string>& looks = {}) const;
  // A run NAME of the user's own honest script.
  std::string own_run(const std::string& name, const std::vector<std::string>& flags = {}) const;

  // Changes config.json or a row of metrics.jsonl like an attacker who knows the format, but not the key.
  void change_config(const std::string& run, const std::function<void(nlohmann::ordered_json&)>&) const;
  void change_text(const std::string& file, const std::string& from, const std::string& to) const;
  void append(const std::string& file, const std::string& line) const;
};

// A bundle with this manifest and these entries.
std::string assemble(const std::string& path, const std::string& manifest,
                     const std::vector<std::pair<std::string, std::string>>& entries);

}  // namespace lunagrad::test

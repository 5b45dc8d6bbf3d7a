// `lunagrad meta`: prints the API's description of itself, for editors and tools, or writes the documents as
// a site.
#include <iostream>
#include <memory>
#include <string>

#include "script/cli/base/carry_out.h"
#include "script/cli/command/all.h"
#include "script/meta/annotations.h"
#include "script/site/site.h"

namespace lunagrad {

Action add_meta(Program& program) {
  const auto as_json = std::make_shared<bool>(false);
  const auto site = std::make_shared<std::string>();
  CLI::App& command = add_command(program, "meta", "print annotations of the API for Lua editors");
  add_flag(command, "--json", *as_json, "print the records of the operations as JSON instead");
  add_option(command, "--site", *site, "write the documents and the reference as a site instead", "FOLDER");
  add_exclusion(command, "--site", "--json");
  return [=, &app = program.app] {
    if (!site->empty())
      return carry_out("meta", [&] {
        write_site(*site, describe(app));
        return 0;
      });
    (*as_json ? print_records : print_meta)(std::cout);
    return 0;
  };
}

}  // namespace lunagrad

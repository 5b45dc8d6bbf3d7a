// `lunagrad meta`: prints the API's description of itself, for editors and for docs/operations.md.
#include <iostream>
#include <memory>

#include "script/cli/command/all.h"
#include "script/meta/annotations.h"
#include "script/meta/pages.h"

namespace lunagrad {

Action add_meta(Program& program) {
  const auto as_table = std::make_shared<bool>(false), as_library = std::make_shared<bool>(false),
             as_json = std::make_shared<bool>(false);
  CLI::App& command = add_command(program, "meta", "print annotations of the API for Lua editors");
  add_flag(command, "--table", *as_table, "print docs/operations.md instead: a table of all operations");
  add_flag(command, "--library", *as_library, "print docs/library.md instead: all functions of the library");
  add_flag(command, "--json", *as_json, "print the records of the operations as JSON instead");
  return [=] {
    (*as_table     ? print_op_table
     : *as_library ? print_library
     : *as_json    ? print_records
                   : print_meta)(std::cout);
    return 0;
  };
}

}  // namespace lunagrad

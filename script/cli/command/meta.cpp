// `lunagrad meta`: what the API says of itself, for editors and for docs/operations.md.
#include <iostream>
#include <memory>

#include "script/cli/command/all.h"
#include "script/meta/annotations.h"

namespace lunagrad {

Action add_meta(Program& program) {
  const auto as_table = std::make_shared<bool>(false);
  CLI::App& command = add_command(program, "meta", "print annotations of the API for Lua editors");
  add_flag(command, "--table", *as_table, "a Markdown table of the operations instead");
  return [=] {
    *as_table ? print_op_table(std::cout) : print_meta(std::cout);
    return 0;
  };
}

}  // namespace lunagrad

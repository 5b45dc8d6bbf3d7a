// `lunagrad devices`: the devices of the computer, and with --ops the ops that each device computes itself.
#include <iostream>
#include <memory>

#include "runtime/core/device.h"
#include "script/cli/bench/device_ops.h"
#include "script/cli/command/all.h"

namespace lunagrad {
namespace {

int list_devices(bool with_ops) {
  for (const auto& device : devices()) {
    const std::string name(device->name());
    std::cout << name << std::string(name.size() < 12 ? 12 - name.size() : 1, ' ') << device->description();
    if (const size_t total = device->memory().total) std::cout << ", " << (total >> 20) << " MiB";
    std::cout << "\n";
  }
  std::cerr << missing_devices();
  if (with_ops) print_device_ops(std::cout << "\n");
  return 0;
}

}  // namespace

Action add_devices(Program& program) {
  const auto with_ops = std::make_shared<bool>(false);
  CLI::App& command = add_command(program, "devices", "list the devices");
  add_flag(command, "--ops", *with_ops,
           "list the operations that each device computes itself, with their dtypes");
  return [=] { return list_devices(*with_ops); };
}

}  // namespace lunagrad

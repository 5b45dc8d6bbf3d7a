// `lunagrad bundle RUN`: packs a run into one file, which `lunagrad repro` runs again elsewhere.
#include <filesystem>
#include <iostream>
#include <memory>

#include "runtime/core/figures.h"
#include "runtime/io/atomic_file.h"
#include "runtime/io/input_file.h"
#include "script/bundle/pack.h"
#include "script/cli/base/carry_out.h"
#include "script/cli/base/flags.h"
#include "script/cli/base/progress.h"
#include "script/cli/trust/permission.h"
#include "script/run/folder.h"
#include "script/run/record.h"
#include "script/trust/inside.h"

namespace lunagrad {
namespace {

constexpr size_t kLongestName = 200;  // of a file name, in bytes, with room for endings

struct Request {
  std::string run, output;
  size_t data = size_t(16) << 20;
  bool checkpoints = false;
  TrustFlags trust;
};

int bundle(const Request& request) {
  const std::string run = find_named(request.run);
  refuse_special(run);
  const std::string output =
      request.output.empty() ? plain_name(name_of_folder(run), kLongestName) + ".run" : request.output;
  std::vector<std::string> warnings;
  const Bundle made = pack_run(run, output,
                               {.data = request.data,
                                .checkpoints = request.checkpoints,
                                .trusted = request.trust.trust,
                                .progress = show_count},
                               warnings);
  for (const std::string& warning : warnings) std::cerr << "lunagrad bundle: " << warning << "\n";
  for (const std::string& part : made.left_out)
    std::cerr << "lunagrad bundle: " << part << " is left out: it has more than 64 MiB\n";
  size_t packed = 0, known = 0;
  for (const BundleFile& file : made.files) {
    if (file.kind == UsedFile::Kind::folder) continue;
    ++known;
    packed += !file.entry.empty();
  }
  // Else the output is a stream, which may be standard output itself.
  const bool file = replaces_file(output);
  std::ostream& out = file ? std::cout : std::cerr;
  out << output << ": ";
  if (file) out << bytes_figure(double(InputFile(output).size())) << ", ";
  out << made.parts.size() << " files of the run, " << packed << " of " << known << " files that it read";
  if (packed < known)
    out << "; of the others it has the SHA-256: they take more than " << bytes_figure(double(request.data))
        << " (--data)";
  out << "\n";
  return 0;
}

}  // namespace

Action add_bundle(Program& program) {
  const auto request = std::make_shared<Request>();
  CLI::App& command = add_command(
      program, "bundle", "pack a run into one file: script, modules, data, numbers; repro runs it again");
  add_argument(command, "RUN", request->run, "a run's folder, or the beginning or end of its name");
  add_option(command, "--output,-o", request->output,
             "the file to write (default: the folder's name and .run)");
  add_size(command, "--data", request->data,
           "pack the data files that the script read if they take at most so many bytes together, else only "
           "their sizes and SHA-256 (default 16MiB)");
  add_flag(command, "--checkpoints", request->checkpoints, "pack the checkpoints, too");
  add_trust_flag(command, request->trust,
                 "pack the files that a run names although it was not made by you here");
  return [=] { return carry_out("bundle", [&] { return bundle(*request); }); };
}

}  // namespace lunagrad

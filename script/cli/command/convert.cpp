// `lunagrad convert A B`: converts arrays from one file format to another; the file name endings give the
// formats. Names of arrays are kept. An array that the target cannot hold is an error; metadata that it
// cannot hold is reported on standard error.
#include <iostream>
#include <memory>

#include "runtime/core/dtype_names.h"
#include "runtime/core/error.h"
#include "runtime/io/format.h"
#include "runtime/ops.h"
#include "script/cli/base/carry_out.h"
#include "script/cli/command/all.h"

namespace lunagrad {
namespace {

struct ConvertRequest {
  std::string from, to, dtype;
  bool header = false;  // the first line of a csv file holds names
};

void save_any(const std::string& path, const Safetensors& content) {
  const FileFormat& format = required_format(path);
  if (!content.metadata.empty() && !format.keeps_metadata)
    std::cerr << "lunagrad convert: " << content.metadata.size()
              << " entries of metadata are left out; only .safetensors files hold them\n";
  if (format.save_all) return format.save_all(path, content);
  if (content.tensors.size() != 1)
    fail_as(ErrorKind::file, path, ": holds one array, and there are ", content.tensors.size(),
            "; .safetensors and .npz hold several");
  format.save(path, content.tensors[0].second);
}

int convert(const ConvertRequest& request) {
  ReadOptions options{.header = request.header, .dtype = {}};
  if (!request.dtype.empty()) {
    options.dtype = dtype_from_name(request.dtype);
    if (!options.dtype) {
      std::cerr << "lunagrad convert: --dtype " << request.dtype << " is no element type\n";
      return int(Outcome::usage);
    }
  }
  // An array that the other format cannot hold counts as a file error, too.
  const auto run = [&] {
    required_format(request.to);
    Safetensors content = load_arrays(request.from, options);
    if (options.dtype)
      for (auto& [name, tensor] : content.tensors) tensor = to(tensor, *options.dtype);
    save_any(request.to, content);
    return 0;
  };
  return carry_out("convert", run, Outcome::file);
}

}  // namespace

Action add_convert(Program& program) {
  const auto request = std::make_shared<ConvertRequest>();
  CLI::App& command = add_command(program, "convert",
                                  "convert an array file to another format, chosen by the file names: A B");
  add_argument(command, "A", request->from, "an existing file");
  add_argument(command, "B", request->to, "the file to write; see lunagrad help formats");
  add_option(command, "--dtype", request->dtype, "dtype of the output (default: unchanged)");
  add_flag(command, "--header", request->header, "the first line of a csv file holds column names");
  return [=] { return convert(*request); };
}

}  // namespace lunagrad

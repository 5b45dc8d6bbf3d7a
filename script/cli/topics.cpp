#include "script/cli/topics.h"

#include <algorithm>

#include "runtime/op.h"
#include "script/signature.h"

namespace lunagrad {
namespace {

struct Topic {
  const char* name;
  const char* summary;
  const char* text;
};

constexpr Topic kTopics[] = {
    {"run", "what a script finds in lg.run",
     "lg.run.param(name, default, {min=, max=, log=})  a value that --set name=value replaces\n"
     "lg.run.live(name, default, opts)                 a handle: h() is the value, optimizers take the "
     "handle\n"
     "for step in lg.run.steps(n) do ... end           iterations; --steps replaces n\n"
     "lg.run.log{loss = l, accuracy = a}               numbers or scalar tensors, a line in metrics.jsonl\n"
     "lg.run.text(name, string)                        a line in metrics.jsonl\n"
     "lg.run.state(name, build)                        registers and returns what build() made; a checkpoint keeps it\n"
     "lg.run.checkpoint()                              writes one, at the end of the step\n"
     "lg.run.resume(path)                              goes on from one, as --resume does; its step, or nil\n"
     "lg.run.assert_finite(true)                       as --guard op: a NaN or infinity ends the run, exit code 4\n"
     "lg.run.breakpoint(condition)                     pauses in the window\n"
     "lg.run.image(name, x, {normalize = false})       a PNG in images/: u8 or 0 to 1, {C, H, W}, {H, W} or {N, C, H, W}\n"
     "lg.run.histogram(name, x)                        bins, extremes, moments, zeros, NaN and infinities\n"
     "lg.run.watch(model, {every = 100})               norms of weights and gradients, updates, histograms, dead units;\n"
     "                                                 {histograms = false, activations = false, name = \"net\"}\n"},
    {"files", "what a run leaves behind",
     "runs/<UTC time>-<script>-<id>/, or the folder of --run-dir, made when a script first logs or steps:\n"
     "  config.json    parameters, seed, device, versions, git commit, and how the run ended\n"
     "  script.lua     the script as it ran\n"
     "  metrics.jsonl  one JSON object a line: {\"step\":1,\"time\":0.1,\"metrics\":{\"loss\":2.3}}; append "
     "only;\n"
     "                 NaN and infinities are the strings \"NaN\", \"Infinity\", \"-Infinity\"\n"
     "  checkpoints/   step-00000100.safetensors: what lg.run.state registered, the step, parameters, random numbers\n"
     "  images/        PNGs of lg.run.image: {\"step\":1,\"time\":0.1,\"image\":{\"digits\":\"images/digits-00000001.png\"}}\n"
     "  git.diff       what the code differs in from that commit, if it does\n"
     "  log.txt        what the script printed\n"
     "  events.out.tfevents.*   with --tensorboard: metrics, texts, images and histograms once more, for TensorBoard\n"
     "run SCRIPT --resume FOLDER goes on from the newest checkpoint; {\"step\":100,\"resume\":…} in metrics.jsonl then "
     "voids\n"
     "the rows of later steps above it.\n"
     "When the disk is full the run goes on: each file that it can no longer write is said once, checkpoints each time.\n"
     "The prompt keeps its history in $XDG_STATE_HOME/lunagrad/history.\n"},
    {"formats", "files of arrays: lg.io, lunagrad convert and info",
     "safetensors   tensors by name, and metadata: lg.io.safetensors.load(path) -> table, metadata\n"
     "npz           arrays by name, NumPy's: lg.io.npz.save(path, table, {compress = true})\n"
     "npy           one array, NumPy's; i1 i2 u2 widen to i32, u4 to i64\n"
     "csv           one table of numbers: lg.io.csv.load(path, {header =, delimiter =, dtype =})\n"
     "idx           one array, MNIST's; packed when the name ends in .gz\n"
     "png           one image, u8 [channels, height, width]: 1 grey, 2 grey and alpha, 3 rgb, 4 rgba;\n"
     "              lg.io.png.load(path, {channels = 3}) converts; floats are saved as 0 to 1\n"
     "lunagrad convert A B   goes by the ends of the names; .npy .csv .idx .png hold one array, which takes "
     "the\n"
     "                       name of its file; --dtype casts, --header skips the names of a csv file\n"
     "lunagrad info FILE     goes by the content; --json prints one object\n"},
    {"exit-codes", "what the numbers mean",
     "0 success              1 error in the script    2 wrong usage, unknown --set\n"
     "3 a test failed        4 NaN or infinity        5 no such device or display\n"
     "6 a file is missing or bad                      7 a run came out otherwise (repro)\n"
     "8 out of memory\n"
     "124 time limit         130 stopped by Ctrl-C    143 stopped by SIGTERM\n"
     "A script may end with any other through os.exit(n).\n"},
};

}  // namespace

std::string explain_name(const std::string& name) {
  std::string plain = name;
  for (const char* prefix : {"lg.", "x:", "F.", "Tensor."})
    if (plain.starts_with(prefix)) plain.erase(0, std::string(prefix).size());
  bool in_place = false;
  const Signature* signature = find_signature(plain);
  if (!signature && plain.ends_with('_')) {
    plain.pop_back();
    signature = find_signature(plain);
    in_place = signature && has_in_place_form(*signature->op);
    if (!in_place) return {};
  }
  if (!signature || signature->op->hidden()) return {};
  const Op& op = *signature->op;
  std::string text = "lg." + plain + "(" + signature->names + ")\n  " + op.doc + "\n";
  for (const Slot& slot : signature->slots) {
    if (slot.is_input) continue;
    const ParamSpec& spec = op.params[slot.index];
    text += "  " + std::string(spec.name);
    if (spec.fallback.present()) text += " = " + print_value(spec, spec.fallback);
    if (!spec.choices.empty()) {
      text += " (";
      for (size_t i = 0; i < spec.choices.size(); ++i)
        text += std::string(i ? ", \"" : "\"") + spec.choices[i] + '"';
      text += ")";
    }
    text += "\n";
  }
  if (in_place) text += "  " + plain + "_ writes the result into its first operand.\n";
  if (!op.vjp && !op.compose) text += "  Not differentiable.\n";
  return text;
}

std::string explain_topic(const std::string& topic) {
  for (const Topic& known : kTopics)
    if (topic == known.name) return known.text;
  return explain_name(topic);
}

std::string list_topics() {
  std::string text;
  for (const Topic& topic : kTopics)
    text += "  " + std::string(topic.name) + std::string(14 - std::string(topic.name).size(), ' ') +
            topic.summary + "\n";
  return text + "  NAME          an operation, such as matmul\n";
}

}  // namespace lunagrad

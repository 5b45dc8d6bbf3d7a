// Mutated ONNX models.
#include "tests/fuzz/protobuf.h"
#include "tests/fuzz/reading.h"

using namespace lunagrad;
using namespace lunagrad::tests;

TEST_CASE("mutated ONNX models") {
  const Folder folder;
  ReadingScript script;
  script.run(
      "local nn = lg.nn "
      "lg.io.onnx_export(path .. '/mlp', nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.BatchNorm1d(4), "
      "nn.Linear(4, 2), nn.Softmax(2)), lg.ones(2, 3)) "
      "lg.io.onnx_export(path .. '/cnn', nn.Sequential(nn.Conv2d(1, 2, 3, {padding = 1}), nn.MaxPool2d(2), "
      "nn.Flatten(), nn.Linear(8, 2)), lg.ones(1, 1, 4, 4)) "
      "lg.io.onnx_export(path .. '/ops', function(x) local y = x:reshape(3, 2):t():cumsum(2) return "
      "lg.cat({y, x}, 1):pad{1, 1}, "
      "x:sum(1), x[{{1, 1}}]:expand(4, 3), x:gt(0):float(), lg.topk(x, 2) end, lg.ones(2, 3))",
      folder.file(""));
  std::vector<FilePieces> good;
  for (const char* name : {"mlp", "cnn", "ops"}) good.push_back({{"", read_file(folder.file(name))}});
  read_mutated(
      {.file = "x.onnx",
       .good = good,
       .words = {"Relu", "Gemm", "Conv", "Slice", "Reshape", "Softmax", "Resize", "LSTM", "axis", "alpha", "",
                 ".", "4"},
       .nests = {},
       .assemble = first_part,
       .read =
           [&](const std::string& path) {
             script.run(
                 "local model, messages = lg.io.onnx_import(path), {} "
                 "for i, shape in ipairs {{2, 3}, {1, 1, 4, 4}} do local inputs = {} "
                 "for k in ipairs(model._graph.inputs) do inputs[k] = lg.ones(shape) end "
                 "local ok, message = pcall(lg.no_grad, function() return model(table.unpack(inputs)) end) "
                 "if ok then return end messages[i] = tostring(message) end "
                 "error(table.concat(messages, '; '))",
                 path);
           },
       .change =
           [](Mutator& mutator, const std::string& bytes, const std::string& other) {
             std::string out = ProtobufMutator(mutator).mutated(bytes, other);
             while (mutator.one_in(3)) out = ProtobufMutator(mutator).mutated(out, other);
             return out.size() < (1 << 18) ? out : bytes;
           }});
}

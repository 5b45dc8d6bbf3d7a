#include "script/onnx/reader.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <optional>
#include <set>

#include "onnx.pb.h"
#include "runtime/core/error.h"
#include "runtime/io/array_info.h"
#include "runtime/io/atomic_file.h"
#include "runtime/io/input_file.h"
#include "runtime/io/read_budget.h"
#include "runtime/io/resolved_path.h"
#include "runtime/ops.h"

namespace lunagrad::onnx_import {
namespace {

namespace fs = std::filesystem;
using onnx_messages::AttributeProto;
using onnx_messages::TensorProto;

constexpr uint64_t kRatio = 512;     // bytes of values per byte of the file: a node may take two
constexpr uint64_t kMapEntry = 128;  // bytes of a map entry, without its name

// Memory for protocol buffer messages, charged to a budget. An arena takes plain functions, so the budget is
// in a thread_local.
class Arena {
 public:
  explicit Arena(ReadBudget& budget) {
    charged = &budget;
    google::protobuf::ArenaOptions options;
    options.block_alloc = [](size_t bytes) {
      charged->take(bytes);
      return ::operator new(bytes);
    };
    options.block_dealloc = [](void* block, size_t) { ::operator delete(block); };
    arena_.emplace(options);
  }
  Arena(const Arena&) = delete;

  onnx_messages::ModelProto& make() {
    return *google::protobuf::Arena::CreateMessage<onnx_messages::ModelProto>(&*arena_);
  }

 private:
  static thread_local ReadBudget* charged;
  std::optional<google::protobuf::Arena> arena_;
};
thread_local ReadBudget* Arena::charged = nullptr;

// A name for an error message: cut to a short text on one line.
std::string shown(const std::string& name) {
  std::string out = "'";
  for (const char c : name.substr(0, 60)) out += uint8_t(c) < 0x20 || c == 0x7f ? '?' : c;
  return out + (name.size() > 60 ? "…'" : "'");
}

// An element type of ONNX: the bytes of an element in raw data, and our type. 8- and 16-bit integers become
// i32; u32 becomes i64.
struct ElementType {
  int code;
  size_t bytes;
  DType dtype;
  // converts `count` elements; null: the bytes have our type already
  void (*convert)(const char*, size_t, void*) = nullptr;
};

template <class From, class To>
void convert_elements(const char* from, size_t count, void* to) {
  for (size_t i = 0; i < count; ++i) {
    From value;
    std::memcpy(&value, from + i * sizeof value, sizeof value);
    static_cast<To*>(to)[i] = To(value);
  }
}

constexpr ElementType kTypes[] = {
    {TensorProto::FLOAT, 4, DType::f32},
    {TensorProto::DOUBLE, 8, DType::f64},
    {TensorProto::FLOAT16, 2, DType::f16},
    {TensorProto::BFLOAT16, 2, DType::bf16},
    {TensorProto::INT64, 8, DType::i64},
    {TensorProto::INT32, 4, DType::i32},
    {TensorProto::UINT8, 1, DType::u8},
    {TensorProto::BOOL, 1, DType::boolean},
    {TensorProto::COMPLEX64, 8, DType::c64},
    {TensorProto::COMPLEX128, 16, DType::c128},
    {TensorProto::INT8, 1, DType::i32, convert_elements<int8_t, int32_t>},
    {TensorProto::INT16, 2, DType::i32, convert_elements<int16_t, int32_t>},
    {TensorProto::UINT16, 2, DType::i32, convert_elements<uint16_t, int32_t>},
    {TensorProto::UINT32, 4, DType::i64, convert_elements<uint32_t, int64_t>},
    {TensorProto::UINT64, 8, DType::i64, convert_elements<uint64_t, int64_t>},
};

class Reader {
 public:
  Reader(const std::string& path, const std::function<void(const std::string&)>& allow)
      : path_(path), allow_(allow), budget_(path, InputFile(path).size(), kRatio) {}

  Model read() {
    const std::string bytes = read_file(path_);
    budget_.take(2 * bytes.size());  // the messages hold a copy
    Arena arena(budget_);
    onnx_messages::ModelProto& proto = arena.make();
    if (!proto.ParseFromString(bytes) || !proto.has_graph()) complain("not an ONNX file");
    Model model{.name = proto.graph().name()};
    for (const auto& set : proto.opset_import()) {
      if (set.domain().empty() || set.domain() == "ai.onnx") model.opset = set.version();
    }
    if (model.opset < 1 || model.opset > 21)
      complain("operator set ", model.opset, " of ai.onnx, which is not read; 1 to 21 are");
    if (proto.functions_size() > 0) complain("it defines functions of its own, which are not read");
    const onnx_messages::GraphProto& graph = proto.graph();
    if (graph.sparse_initializer_size() > 0) complain("it has sparse tensors, which are not read");
    for (const TensorProto& tensor : graph.initializer()) {
      define(tensor.name(), "an initializer");
      model.initializers.emplace_back(tensor.name(), read_tensor(tensor));
    }
    const std::set<std::string> initialized = known_;
    for (const auto& value : graph.input()) {
      if (initialized.count(value.name())) continue;
      define(value.name(), "an input");
      model.inputs.push_back(value.name());
    }
    for (const auto& node : graph.node()) model.nodes.push_back(read_node(node));
    std::set<std::string> outputs;
    for (const auto& value : graph.output()) {
      if (!known_.count(value.name())) complain("nothing computes the output ", shown(value.name()));
      if (!outputs.insert(value.name()).second)
        complain("the output ", shown(value.name()), " is listed twice");
      model.outputs.push_back(value.name());
    }
    return model;
  }

 private:
  template <class... Parts>
  [[noreturn]] void complain(const Parts&... parts) const {
    fail_as(ErrorKind::file, path_, ": ", parts...);
  }

  // Each name stands for one value.
  void define(const std::string& name, const std::string& what) {
    budget_.take(kMapEntry + 2 * name.size());
    if (name.empty()) complain(what, " has no name");
    if (!known_.insert(name).second) complain(what, " is called ", shown(name), ", as another value is");
  }

  Node read_node(const onnx_messages::NodeProto& proto) {
    Node node{.op = proto.op_type(), .name = proto.name()};
    budget_.take(2 * sizeof node + node.op.size() + node.name.size());
    if (node.op.empty()) complain("node ", shown(node.name), " names no operator");
    if (!proto.domain().empty() && proto.domain() != "ai.onnx") node.op = proto.domain() + "." + node.op;
    for (const std::string& input : proto.input()) {
      if (!input.empty() && !known_.count(input))
        complain(of_node(node), " reads ", shown(input), ", which nothing before it computes");
      budget_.take(2 * sizeof input + input.size());
      node.inputs.push_back(input);
    }
    for (const std::string& output : proto.output()) {
      if (!output.empty()) define(output, "an output of " + of_node(node));
      budget_.take(2 * sizeof output + output.size());
      node.outputs.push_back(output);
    }
    std::set<std::string> names;
    for (const AttributeProto& attribute : proto.attribute()) {
      budget_.take(kMapEntry + 2 * attribute.name().size());
      if (!names.insert(attribute.name()).second)
        complain(of_node(node), " has the attribute ", shown(attribute.name()), " twice");
      node.attributes.emplace_back(attribute.name(), read_attribute(attribute, node));
    }
    return node;
  }

  static std::string of_node(const Node& node) {
    return "node " + shown(node.name) + " (" + shown_op(node) + ")";
  }
  static std::string shown_op(const Node& node) {
    const std::string quoted = shown(node.op);
    return quoted.substr(1, quoted.size() - 2);
  }

  AttributeValue read_attribute(const AttributeProto& proto, const Node& node) {
    budget_.take(sizeof(AttributeValue) * 2 + proto.s().size() +
                 8 * size_t(proto.ints_size() + proto.floats_size()) +
                 sizeof(std::string) * size_t(proto.strings_size()));
    switch (proto.type()) {
      case AttributeProto::INT:
        return int64_t(proto.i());
      case AttributeProto::FLOAT:
        return double(proto.f());
      case AttributeProto::STRING:
        return proto.s();
      case AttributeProto::TENSOR:
        return read_tensor(proto.t());
      case AttributeProto::INTS:
        return std::vector<int64_t>(proto.ints().begin(), proto.ints().end());
      case AttributeProto::FLOATS:
        return std::vector<double>(proto.floats().begin(), proto.floats().end());
      case AttributeProto::STRINGS:
        return std::vector<std::string>(proto.strings().begin(), proto.strings().end());
      default:
        complain(of_node(node), " has the attribute ", shown(proto.name()),
                 ", which holds a graph or a type; ", "such nodes (If, Loop, Scan) are not read");
    }
  }

  Tensor read_tensor(const TensorProto& proto) const {
    const ElementType* type = nullptr;
    for (const ElementType& known : kTypes)
      if (known.code == proto.data_type()) type = &known;
    if (!type)
      complain("tensor ", shown(proto.name()), " has element type ", proto.data_type(),
               ", which is not read");
    if (proto.dims_size() > kMaxDims)
      complain("tensor ", shown(proto.name()), " has ", proto.dims_size(), " dims; at most ", kMaxDims,
               " are supported");
    Shape shape;
    std::vector<uint64_t> sizes;
    for (const int64_t size : proto.dims()) {
      if (size < 0) complain("tensor ", shown(proto.name()), " has the size ", size);
      shape.push_back(size);
      sizes.push_back(uint64_t(size));
    }
    const auto bytes = array_bytes(sizes, type->bytes);
    if (!bytes) complain("tensor ", shown(proto.name()), " has too many elements");
    HeldMemory held;
    std::string made;
    std::string_view raw;
    if (proto.data_location() == TensorProto::EXTERNAL)
      raw = made = external_data(proto, *bytes, held);
    else if (proto.has_raw_data())
      raw = proto.raw_data();
    else
      raw = made = typed_data(proto, *type, *bytes, held);
    if (raw.size() != *bytes)
      complain("tensor ", shown(proto.name()), " has ", raw.size(), " bytes for ", *bytes);
    const Tensor x = Tensor::empty(shape, type->dtype);
    const size_t count = size_t(x.numel());
    if (type->convert)
      type->convert(raw.data(), count, x.raw());
    else if (!raw.empty())
      std::memcpy(x.raw(), raw.data(), raw.size());
    if (type->dtype == DType::boolean)
      for (size_t i = 0; i < count; ++i)
        if (raw[i] != 0 && raw[i] != 1)
          complain("tensor ", shown(proto.name()), " of type bool holds the byte ", int(uint8_t(raw[i])));
    return x;
  }

  // Numbers in the typed fields of a tensor, as the bytes of its elements. int32_data also holds the types of
  // 16 bits and fewer.
  std::string typed_data(const TensorProto& proto, const ElementType& type, uint64_t wanted,
                         HeldMemory& held) const {
    std::string out;
    const auto add = [&](const auto& field, auto sample) {
      if (uint64_t(field.size()) * sizeof sample != wanted)
        complain("tensor ", shown(proto.name()), " has ", field.size(), " numbers for ",
                 wanted / sizeof sample);
      held.add(size_t(wanted), path_);
      out.reserve(size_t(wanted));
      for (const auto value : field) {
        const auto narrow = decltype(sample)(value);
        out.append(reinterpret_cast<const char*>(&narrow), sizeof narrow);
      }
    };
    switch (type.code) {
      case TensorProto::FLOAT:
      case TensorProto::COMPLEX64:
        add(proto.float_data(), float());
        break;
      case TensorProto::DOUBLE:
      case TensorProto::COMPLEX128:
        add(proto.double_data(), double());
        break;
      case TensorProto::INT64:
        add(proto.int64_data(), int64_t());
        break;
      case TensorProto::UINT32:
        add(proto.uint64_data(), uint32_t());
        break;
      case TensorProto::UINT64:
        add(proto.uint64_data(), uint64_t());
        break;
      case TensorProto::INT32:
        add(proto.int32_data(), int32_t());
        break;
      default:
        type.bytes == 2 ? add(proto.int32_data(), uint16_t()) : add(proto.int32_data(), uint8_t());
    }
    return out;
  }

  // The bytes of a tensor that are in another file. The file must be in the model's folder, also after links
  // are followed.
  std::string external_data(const TensorProto& proto, uint64_t wanted, HeldMemory& held) const {
    std::string location, offset = "0", length;
    for (const auto& entry : proto.external_data())
      (entry.key() == "location" ? location : entry.key() == "offset" ? offset : length) = entry.value();
    const fs::path relative(location), folder = fs::path(path_).parent_path();
    bool outside = relative.empty() || relative.is_absolute() || location.find('\0') != location.npos;
    for (const auto& part : relative) outside = outside || part == "..";
    const std::string path = (folder / relative).string();
    if (outside || !lies_in(resolved_path(path), resolved_path(folder.string())))
      complain("tensor ", shown(proto.name()), " is in the file ", shown(location),
               ", outside of the model's folder");
    allow_(path);
    const InputFile file(path);
    uint64_t start = 0;
    for (const char c : offset) {
      if (c < '0' || c > '9' || start > file.size())
        complain("tensor ", shown(proto.name()), ": ", shown(offset), " is no offset in its file");
      start = start * 10 + uint64_t(c - '0');
    }
    if (start > file.size() || file.size() - start < wanted)
      complain("tensor ", shown(proto.name()), " has ", wanted, " bytes, which ", path, " does not hold");
    held.add(size_t(wanted), path);
    std::string bytes(size_t(wanted), '\0');
    file.read(bytes.data(), start, wanted);
    return bytes;
  }

  const std::string& path_;
  const std::function<void(const std::string&)>& allow_;
  ReadBudget budget_;
  std::set<std::string> known_;  // names of values
};

}  // namespace

Model read_model(const std::string& path, const std::function<void(const std::string&)>& allow) {
  return Reader(path, allow).read();
}

}  // namespace lunagrad::onnx_import

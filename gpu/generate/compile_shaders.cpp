// Compiles the shaders from GLSL to SPIR-V and writes the C++ source that holds all modules (ShaderCode in
// gpu/vulkan/pipeline_maker.h), without names of variables and deflated: half of the library would be SPIR-V
// otherwise. One process for all of them: glslang takes ten times as long to start as to compile a shader.
// Runs during the build; the arguments are the source to write, the number of folders for #include, these
// folders and the shaders.
#include <glslang/Public/ResourceLimits.h>
#include <glslang/Public/ShaderLang.h>
#include <glslang/SPIRV/GlslangToSpv.h>
#include <zlib.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gpu/generate/program.h"

namespace {

namespace fs = std::filesystem;
using lunagrad::gpu::read_text;

// Finds #include "NAME" next to the file that includes it, then in the folders. Each file is read once.
class Includes : public glslang::TShader::Includer {
 public:
  explicit Includes(std::span<char*> folders) : folders_(folders.begin(), folders.end()) {}

  IncludeResult* includeLocal(const char* name, const char* from, size_t) override {
    if (IncludeResult* const found = find(fs::path(from).parent_path() / name)) return found;
    for (const fs::path& folder : folders_)
      if (IncludeResult* const found = find(folder / name)) return found;
    return nullptr;
  }
  void releaseInclude(IncludeResult*) override {}  // kept for the next shader

 private:
  struct File {
    std::string text;
    std::unique_ptr<IncludeResult> result;
  };

  IncludeResult* find(const fs::path& path) {
    const std::string name = path.string();
    if (!files_.contains(name)) {
      if (!fs::exists(path)) return nullptr;
      File& file = files_[name];
      file.text = read_text(path);
      file.result = std::make_unique<IncludeResult>(name, file.text.data(), file.text.size(), nullptr);
    }
    return files_.at(name).result.get();
  }

  std::vector<fs::path> folders_;
  std::map<std::string, File> files_;
};

std::vector<uint32_t> compile(const std::string& path, Includes& includes) {
  constexpr auto kMessages = EShMessages(EShMsgSpvRules | EShMsgVulkanRules);
  const std::string text = read_text(path);
  const char* const texts[] = {text.c_str()};
  const char* const names[] = {path.c_str()};
  glslang::TShader shader(EShLangCompute);
  shader.setStringsWithLengthsAndNames(texts, nullptr, names, 1);
  shader.setEnvInput(glslang::EShSourceGlsl, EShLangCompute, glslang::EShClientVulkan, 100);
  shader.setEnvClient(glslang::EShClientVulkan, glslang::EShTargetVulkan_1_2);
  shader.setEnvTarget(glslang::EShTargetSpv, glslang::EShTargetSpv_1_5);
  if (!shader.parse(GetDefaultResources(), 100, false, kMessages, includes))
    throw std::runtime_error(std::string(shader.getInfoLog()));
  glslang::TProgram program;
  program.addShader(&shader);
  if (!program.link(kMessages)) throw std::runtime_error(path + ": " + program.getInfoLog());
  std::vector<uint32_t> words;
  glslang::SpvOptions options;
  options.stripDebugInfo = true;
  glslang::GlslangToSpv(*program.getIntermediate(EShLangCompute), words, &options);
  return words;
}

std::string deflated(std::span<const uint32_t> words) {
  uLongf size = compressBound(words.size_bytes());
  std::string bytes(size, '\0');
  if (compress2(reinterpret_cast<Bytef*>(bytes.data()), &size, reinterpret_cast<const Bytef*>(words.data()),
                words.size_bytes(), Z_BEST_COMPRESSION) != Z_OK)
    throw std::runtime_error("deflating a shader failed");
  bytes.resize(size);
  return bytes;
}

// A string literal of any bytes. Three octal digits each: a digit that follows cannot be part of the escape.
void write_literal(std::ostream& out, std::string_view bytes) {
  constexpr size_t kLine = 30;
  for (size_t at = 0; at < bytes.size(); ++at) {
    const auto byte = static_cast<unsigned char>(bytes[at]);
    out << (at % kLine == 0 ? at == 0 ? "\n\"" : "\"\n\"" : "") << '\\' << char('0' + (byte >> 6))
        << char('0' + (byte >> 3 & 7)) << char('0' + (byte & 7));
  }
  out << '"';
}

std::string source_of(std::span<char*> shaders, Includes& includes) {
  std::map<std::string, std::string> by_name;  // sorted: pipelines look modules up by name
  for (const char* const path : shaders) by_name[fs::path(path).stem().string()] = path;
  std::ostringstream out;
  out << "// Written by gpu/generate/compile_shaders.cpp.\n#include <cstdint>\n\n#include "
         "\"gpu/vulkan/pipeline_maker.h\"\n"
         "#include \"shaders/constants.h\"\n\nnamespace lunagrad::gpu {\nnamespace {\n\n";
  out << "constexpr ShaderCode kShaders[] = {\n";
  for (const auto& [name, path] : by_name) {
    const std::vector<uint32_t> words = compile(path, includes);
    const std::string bytes = deflated(words);
    out << "{\"" << name << "\", std::string_view(";
    write_literal(out, bytes);
    out << ", " << bytes.size() << "), " << words.size() * sizeof(uint32_t) << ", shaders::constant_ids(\""
        << name << "\")},\n";
  }
  out << "};\n\n}  // namespace\n\nstd::span<const ShaderCode> all_shaders() { return kShaders; }\n\n}  // "
         "namespace lunagrad::gpu\n";
  return std::move(out).str();
}

}  // namespace

int main(int count, char** words) {
  const std::span all(words, size_t(count));
  const size_t folders = count > 2 ? size_t(std::atoi(words[2])) : 0, first = 3 + folders;
  if (all.size() <= first) {
    std::fprintf(stderr, "usage: %s SOURCE COUNT INCLUDE_FOLDER... SHADER...\n", words[0]);
    return 2;
  }
  glslang::InitializeProcess();
  try {
    Includes includes(all.subspan(3, folders));
    lunagrad::gpu::write_if_changed(words[1], source_of(all.subspan(first), includes));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  glslang::FinalizeProcess();
  return 0;
}

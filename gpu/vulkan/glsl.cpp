#include "gpu/vulkan/glsl.h"

#include <glslang/Include/glslang_c_interface.h>
#include <glslang/Public/resource_limits_c.h>

#include <cstdio>
#include <memory>
#include <mutex>
#include <sstream>

#include "runtime/core/error.h"

namespace lunagrad::gpu {
namespace {

constexpr auto kMessages = glslang_messages_t(GLSLANG_MSG_SPV_RULES_BIT | GLSLANG_MSG_VULKAN_RULES_BIT);

std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

std::string line_of(const std::string& text, int number) {
  std::istringstream in(text);
  std::string line;
  for (int i = 0; i < number; ++i)
    if (!std::getline(in, line)) return "";
  return trimmed(line);
}

// Throws the first error in glslang's log. The log has lines "ERROR: SOURCE:LINE: FACT" and lines that count
// the errors.
[[noreturn]] void refuse(const std::string& name, const char* log, const std::string& user_text) {
  std::istringstream in(log);
  for (std::string entry; std::getline(in, entry);) {
    int source = 0, line = 0, fact = 0;
    if (std::sscanf(entry.c_str(), "ERROR: %d:%d: %n", &source, &line, &fact) != 2 || fact == 0) continue;
    const std::string what = trimmed(entry.substr(size_t(fact)));
    if (source != kUserSource) fail(name, ": its names do not fit GLSL: ", what);
    const std::string quoted = line_of(user_text, line);
    fail(name, ": line ", line, " of its GLSL: ", what, quoted.empty() ? "" : "\n  " + quoted);
  }
  fail(name, ": its GLSL does not compile: ", trimmed(log));
}

}  // namespace

std::vector<uint32_t> compile_glsl(const std::string& name, const std::string& whole,
                                   const std::string& user_text) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  static const bool ready = glslang_initialize_process() != 0;
  if (!ready) fail_as(ErrorKind::device, name, ": the GLSL compiler does not start");
  glslang_input_t input{};
  input.language = GLSLANG_SOURCE_GLSL;
  input.stage = GLSLANG_STAGE_COMPUTE;
  input.client = GLSLANG_CLIENT_VULKAN;
  input.client_version = GLSLANG_TARGET_VULKAN_1_2;
  input.target_language = GLSLANG_TARGET_SPV;
  input.target_language_version = GLSLANG_TARGET_SPV_1_5;
  input.code = whole.c_str();
  input.default_version = 460;
  input.default_profile = GLSLANG_NO_PROFILE;
  input.messages = kMessages;
  input.resource = glslang_default_resource();
  const std::unique_ptr<glslang_shader_t, decltype(&glslang_shader_delete)> shader(
      glslang_shader_create(&input), glslang_shader_delete);
  if (!glslang_shader_preprocess(shader.get(), &input) || !glslang_shader_parse(shader.get(), &input))
    refuse(name, glslang_shader_get_info_log(shader.get()), user_text);
  const std::unique_ptr<glslang_program_t, decltype(&glslang_program_delete)> program(
      glslang_program_create(), glslang_program_delete);
  glslang_program_add_shader(program.get(), shader.get());
  if (!glslang_program_link(program.get(), kMessages))
    refuse(name, glslang_program_get_info_log(program.get()), user_text);
  glslang_spv_options_t options{};
  options.disable_optimizer = true;  // drivers optimize themselves
  glslang_program_SPIRV_generate_with_options(program.get(), GLSLANG_STAGE_COMPUTE, &options);
  const uint32_t* const words = glslang_program_SPIRV_get_ptr(program.get());
  return {words, words + glslang_program_SPIRV_get_size(program.get())};
}

}  // namespace lunagrad::gpu

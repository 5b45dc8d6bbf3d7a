#include "ui/window/theme.h"

#include <fontconfig/fontconfig.h>
#include <imgui_freetype.h>

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdint>
#include <cstdio>

#include "runtime/core/error.h"
#include "runtime/io/atomic_file.h"

namespace lunagrad {
namespace {

constexpr float kFontPixels = 15;

Theme current;
Fonts loaded;
float loaded_scale = 1;

constexpr ImU32 rgb(uint32_t hex) { return IM_COL32(hex >> 16 & 255, hex >> 8 & 255, hex & 255, 255); }

Theme dark_theme() {
  Theme t;
  t.dark = true;
  t.background = rgb(0x14171c);
  t.panel = rgb(0x1b1f26);
  t.raised = rgb(0x262b34);
  t.hovered = rgb(0x323945);
  t.border = rgb(0x2e343f);
  t.grid = rgb(0x2a303a);
  t.text = rgb(0xe4e7ec);
  t.muted = rgb(0xa0a8b5);
  t.faint = rgb(0x8c95a3);
  t.accent = rgb(0x56a8f5);
  t.good = rgb(0x2fbf8f);
  t.warning = rgb(0xf0b429);
  t.bad = rgb(0xff7b5c);
  t.canvas = rgb(0x171a20);
  t.series = {rgb(0x56b4e9), rgb(0xe69f00), rgb(0x2fbf8f), rgb(0xd98cb8),
              rgb(0xf0e442), rgb(0xff7b4a), rgb(0xb8bfca)};
  t.family = {rgb(0x8b95a5), rgb(0x4f9fe0), rgb(0xe69f00), rgb(0x2fbf8f),
              rgb(0xd98cb8), rgb(0xf0e442), rgb(0xff7b4a), rgb(0x7f8fd8)};
  return t;
}

Theme light_theme() {
  Theme t;
  t.dark = false;
  t.background = rgb(0xe6e9ee);
  t.panel = rgb(0xfbfcfd);
  t.raised = rgb(0xeceff3);
  t.hovered = rgb(0xdde3ea);
  t.border = rgb(0xd0d6de);
  t.grid = rgb(0xe4e8ed);
  t.text = rgb(0x1c2128);
  t.muted = rgb(0x4a525d);
  t.faint = rgb(0x5f6874);
  t.accent = rgb(0x0a62b1);
  t.good = rgb(0x006b4e);
  t.warning = rgb(0x855600);
  t.bad = rgb(0xad3900);
  t.canvas = rgb(0xf4f6f8);
  t.series = {rgb(0x0072b2), rgb(0xc77700), rgb(0x009e73), rgb(0xb35a8c),
              rgb(0x8a8000), rgb(0xd55e00), rgb(0x4d5663)};
  t.family = {rgb(0x5f6978), rgb(0x0072b2), rgb(0x9a5c00), rgb(0x007a5e),
              rgb(0xa64b7e), rgb(0x716900), rgb(0xbb4800), rgb(0x5560b8)};
  return t;
}

ImVec4 vec(ImU32 color) { return ImGui::ColorConvertU32ToFloat4(color); }

// A font file, read once for all its sizes, and the index of the face in the file.
struct Face {
  std::string data;
  int index = 0;
};

// The face that fontconfig selects; empty if fontconfig finds no file.
Face find_face(const char* family, int weight) {
  Face face;
  std::string file;
  if (!FcInit()) return face;
  FcPattern* pattern =
      FcPatternBuild(nullptr, FC_FAMILY, FcTypeString, reinterpret_cast<const FcChar8*>(family), FC_WEIGHT,
                     FcTypeInteger, weight, FC_SLANT, FcTypeInteger, FC_SLANT_ROMAN, FC_SCALABLE, FcTypeBool,
                     FcTrue, FC_VARIABLE, FcTypeBool, FcFalse, nullptr);
  FcConfigSubstitute(nullptr, pattern, FcMatchPattern);
  FcDefaultSubstitute(pattern);
  FcResult result = FcResultNoMatch;
  if (FcPattern* match = FcFontMatch(nullptr, pattern, &result)) {
    FcChar8* name = nullptr;
    FcChar8* format = nullptr;
    const bool readable = FcPatternGetString(match, FC_FONTFORMAT, 0, &format) != FcResultMatch ||
                          std::string(reinterpret_cast<char*>(format)).find("Type 1") == std::string::npos;
    if (readable && FcPatternGetString(match, FC_FILE, 0, &name) == FcResultMatch)
      file = reinterpret_cast<char*>(name);
    FcPatternGetInteger(match, FC_INDEX, 0, &face.index);
    FcPatternDestroy(match);
  }
  FcPatternDestroy(pattern);
  try {
    if (!file.empty()) face.data = read_file(file);
  } catch (const Error&) {  // the file was removed meanwhile: no face
  }
  return face;
}

// Arrows, mathematics, boxes and blocks (progress bars), shapes, marks.
#define LUNAGRAD_SYMBOLS 0x2190, 0x21ff, 0x2200, 0x22ff, 0x2500, 0x25ff, 0x2713, 0x2717
// Latin with punctuation.
#define LUNAGRAD_WORDS 0x20, 0x17f, 0x2010, 0x2027, 0xfffd, 0xfffd
// Glyph ranges: of texts; of headings; of names of ops and modules, which are drawn in more sizes; of the
// fallback font for missing glyphs. Each glyph adds ten microseconds to the start of the window.
constexpr ImWchar kText[] = {LUNAGRAD_WORDS,   0x370, 0x3ff, 0x400, 0x45f, 0x2030, 0x205e, 0x2070, 0x209f,
                             LUNAGRAD_SYMBOLS, 0};
constexpr ImWchar kHeadings[] = {LUNAGRAD_WORDS, 0x370, 0x3ff, 0x400, 0x45f, 0};
constexpr ImWchar kNames[] = {0x20, 0x7e, 0xd7, 0xd7, 0x2026, 0x2026, 0};
// Heights of texts in zoomed drawings, in pixels.
constexpr float kLabels[] = {6, 7, 8, 9, 10, 11, 12, 13, 14, 16, 18, 20, 23, 26, 30};
constexpr ImWchar kSymbols[] = {LUNAGRAD_SYMBOLS, 0};
#undef LUNAGRAD_SYMBOLS
#undef LUNAGRAD_WORDS

ImFont* load_font(const Face& face, float pixels, const ImWchar* ranges, bool into_last = false) {
  ImFontConfig config;
  config.FontBuilderFlags = ImGuiFreeTypeBuilderFlags_LightHinting;
  config.FontNo = face.index;
  config.FontDataOwnedByAtlas = false;
  config.MergeMode = into_last;
  if (!face.data.empty())
    return ImGui::GetIO().Fonts->AddFontFromMemoryTTF(const_cast<char*>(face.data.data()),
                                                      int(face.data.size()), pixels, &config, ranges);
  ImFontConfig fallback;
  fallback.SizePixels = pixels;
  return into_last ? nullptr : ImGui::GetIO().Fonts->AddFontDefault(&fallback);
}

}  // namespace

const Theme& theme() { return current; }
const Fonts& fonts() { return loaded; }
float font_scale() { return loaded_scale; }

void load_fonts(float scale) {
  ImFontAtlas* atlas = ImGui::GetIO().Fonts;
  atlas->Clear();
  atlas->FontBuilderIO = ImGuiFreeType::GetBuilderForFreeType();
  const float pixels = std::round(kFontPixels * scale);
  const Face plain = find_face("sans-serif", FC_WEIGHT_REGULAR),
             bold = find_face("sans-serif", FC_WEIGHT_BOLD);
  const Face mono = find_face("monospace", FC_WEIGHT_REGULAR);
  loaded.body = load_font(plain, pixels, kText);
  loaded.bold = load_font(bold, pixels, kHeadings);
  loaded.mono = load_font(mono, std::round(pixels * 0.93f), kText);
  load_font(plain, std::round(pixels * 0.93f), kSymbols, true);  // adds glyphs that the monospaced font lacks
  loaded.plain_sizes.clear();
  loaded.bold_sizes.clear();
  for (const float size : kLabels) {
    loaded.plain_sizes.push_back(load_font(plain, size, kNames));
    loaded.bold_sizes.push_back(load_font(bold, size, kNames));
  }
  atlas->Build();
  atlas->ClearInputData();
  loaded_scale = scale;
}

void use_font(ImFont* font) {
  loaded.body = loaded.bold = loaded.mono = font;
  loaded.plain_sizes.clear();
  loaded.bold_sizes.clear();
  loaded_scale = font->FontSize / kFontPixels;
}

Fonts::Label Fonts::label(bool bold, float pixels, std::string_view text) const {
  const auto& sizes = bold ? bold_sizes : plain_sizes;
  // Only the fonts of the panels have the glyphs of other languages.
  const bool named = text.find_first_not_of(
                         " !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`"
                         "abcdefghijklmnopqrstuvwxyz{|}~×…") == text.npos;
  Label label{bold ? this->bold : body, pixels};
  for (ImFont* font : sizes)
    if (named && font->FontSize <= pixels) label = {font, font->FontSize};
  // Much larger text is drawn with scaled glyphs of the largest font.
  if (!sizes.empty() && pixels > 1.3f * sizes.back()->FontSize) label.size = pixels;
  return label;
}

float Fonts::Label::width(std::string_view text) const {
  return font->CalcTextSizeA(size, FLT_MAX, 0, text.data(), text.data() + text.size()).x;
}

std::string fitting_text(std::string_view text, const Fonts::Label& label, float width) {
  if (label.width(text) <= width) return std::string(text);
  for (size_t length = text.size(); length-- > 0;) {
    if (length > 0 && (static_cast<unsigned char>(text[length]) & 0xc0) == 0x80)
      continue;  // inside a character
    std::string part = std::string(text.substr(0, length)) + "…";
    if (label.width(part) <= width) return part;
  }
  return {};
}

float widest(std::initializer_list<const char*> texts) {
  float width = 0;
  for (const char* const text : texts) width = std::max(width, ImGui::CalcTextSize(text).x);
  return width;
}

std::string fitting_name(std::string_view name, const Fonts::Label& label, float width) {
  if (label.width(name) <= width) return std::string(name);
  // A path without its first parts, while it still has two.
  for (size_t dot = name.find('.'); dot != name.npos && name.find('.', dot + 1) != name.npos;
       dot = name.find('.', dot + 1))
    if (std::string part = "…" + std::string(name.substr(dot + 1)); label.width(part) <= width) return part;
  // The first byte of each character, and the end of the name.
  std::vector<size_t> starts;
  for (size_t i = 0; i < name.size(); ++i)
    if ((static_cast<unsigned char>(name[i]) & 0xc0) != 0x80) starts.push_back(i);
  const size_t count = starts.size();
  starts.push_back(name.size());
  const size_t dot = name.rfind('.');
  const size_t ending =
      dot == name.npos ? 0 : size_t(starts.end() - std::lower_bound(starts.begin(), starts.end(), dot)) - 1;
  for (size_t kept = count; kept-- > 1;) {
    const size_t tail = std::min(std::max(ending < kept ? ending : 0, kept / 2), kept - 1);
    const std::string part = std::string(name.substr(0, starts[kept - tail])) + "…" +
                             std::string(name.substr(starts[count - tail]));
    if (label.width(part) <= width) return part;
  }
  return fitting_text(name, label, width);
}

void set_theme(bool dark) {
  current = dark ? dark_theme() : light_theme();
  const Theme& t = current;
  ImGuiStyle& style = ImGui::GetStyle();
  style = ImGuiStyle();
  style.WindowPadding = {10, 8};
  style.FramePadding = {9, 4};
  style.ItemSpacing = {8, 6};
  style.ItemInnerSpacing = {6, 4};
  style.CellPadding = {6, 2};
  style.ScrollbarSize = 11;
  style.GrabMinSize = 10;
  style.WindowRounding = style.ChildRounding = 6;
  style.FrameRounding = style.PopupRounding = style.GrabRounding = style.TabRounding = 4;
  style.ScrollbarRounding = 6;
  style.WindowBorderSize = 0;
  style.ChildBorderSize = 0;
  style.PopupBorderSize = 1;
  style.ScaleAllSizes(loaded_scale);
  ImVec4* c = style.Colors;
  const ImVec4 clear(0, 0, 0, 0);
  c[ImGuiCol_Text] = vec(t.text);
  c[ImGuiCol_TextDisabled] = vec(t.faint);
  c[ImGuiCol_WindowBg] = vec(t.background);
  c[ImGuiCol_ChildBg] = clear;
  c[ImGuiCol_PopupBg] = vec(t.panel);
  c[ImGuiCol_Border] = c[ImGuiCol_Separator] = vec(t.border);
  c[ImGuiCol_FrameBg] = vec(t.raised);
  c[ImGuiCol_FrameBgHovered] = c[ImGuiCol_FrameBgActive] = vec(t.hovered);
  c[ImGuiCol_Button] = vec(t.raised);
  c[ImGuiCol_ButtonHovered] = vec(t.hovered);
  c[ImGuiCol_ButtonActive] = vec(blend(t.hovered, t.accent, 0.35f));
  c[ImGuiCol_Header] = vec(with_alpha(t.accent, 0.25f));
  c[ImGuiCol_HeaderHovered] = vec(with_alpha(t.accent, 0.18f));
  c[ImGuiCol_HeaderActive] = vec(with_alpha(t.accent, 0.35f));
  c[ImGuiCol_CheckMark] = vec(t.accent);
  // The value of a slider is written over its thumb.
  c[ImGuiCol_SliderGrab] = vec(with_alpha(t.accent, 0.45f));
  c[ImGuiCol_SliderGrabActive] = vec(with_alpha(t.accent, 0.6f));
  c[ImGuiCol_ScrollbarBg] = clear;
  c[ImGuiCol_ScrollbarGrab] = vec(with_alpha(t.faint, 0.35f));
  c[ImGuiCol_ScrollbarGrabHovered] = c[ImGuiCol_ScrollbarGrabActive] = vec(with_alpha(t.faint, 0.7f));
  c[ImGuiCol_Tab] = c[ImGuiCol_TabUnfocused] = clear;
  c[ImGuiCol_TitleBg] = c[ImGuiCol_TitleBgActive] = c[ImGuiCol_TitleBgCollapsed] = vec(t.raised);
  c[ImGuiCol_TabHovered] = vec(t.hovered);
  c[ImGuiCol_TabActive] = c[ImGuiCol_TabUnfocusedActive] = vec(t.raised);
  c[ImGuiCol_PlotHistogram] = vec(t.accent);
  c[ImGuiCol_TextSelectedBg] = vec(with_alpha(t.accent, 0.4f));
  c[ImGuiCol_TableBorderLight] = c[ImGuiCol_TableBorderStrong] = vec(t.border);
  c[ImGuiCol_TableHeaderBg] = clear;
  c[ImGuiCol_TableRowBgAlt] = vec(with_alpha(t.text, 0.03f));
  c[ImGuiCol_NavHighlight] = vec(t.accent);
  c[ImGuiCol_ModalWindowDimBg] = ImVec4(0, 0, 0, t.dark ? 0.5f : 0.25f);
}

float em(float n) { return std::round(n * kFontPixels * loaded_scale); }

// Web Content Accessibility Guidelines 2.1: (L1 + 0.05) / (L2 + 0.05) of the relative luminances.
double contrast(ImU32 a, ImU32 b) {
  const auto luminance = [](ImU32 color) {
    const auto linear = [&](int shift) {
      const double c = double(color >> shift & 255) / 255;
      return c <= 0.03928 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * linear(IM_COL32_R_SHIFT) + 0.7152 * linear(IM_COL32_G_SHIFT) +
           0.0722 * linear(IM_COL32_B_SHIFT);
  };
  const double la = luminance(a), lb = luminance(b);
  return (std::max(la, lb) + 0.05) / (std::min(la, lb) + 0.05);
}

ImU32 with_alpha(ImU32 color, float alpha) {
  const ImU32 a = ImU32(float(color >> IM_COL32_A_SHIFT & 255) * alpha + 0.5f);
  return (color & ~IM_COL32_A_MASK) | a << IM_COL32_A_SHIFT;
}

ImU32 blend(ImU32 a, ImU32 b, float t) {
  ImU32 mixed = 0;
  for (int shift = 0; shift < 32; shift += 8) {
    const float value = float(a >> shift & 255) * (1 - t) + float(b >> shift & 255) * t;
    mixed |= ImU32(std::clamp(value + 0.5f, 0.0f, 255.0f)) << shift;
  }
  return mixed;
}

std::string hex_color(ImU32 color) {
  char text[8];
  std::snprintf(text, sizeof text, "#%02x%02x%02x", unsigned(color >> IM_COL32_R_SHIFT & 255),
                unsigned(color >> IM_COL32_G_SHIFT & 255), unsigned(color >> IM_COL32_B_SHIFT & 255));
  return text;
}

void color_box(ImU32 color) {
  const float box = em(0.7f), drop = (ImGui::GetTextLineHeight() - box) / 2;
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  ImGui::GetWindowDrawList()->AddRectFilled({corner.x, corner.y + drop},
                                            {corner.x + box, corner.y + drop + box}, color, 2);
  ImGui::Dummy({box, ImGui::GetTextLineHeight()});
  ImGui::SameLine(0, em(0.3f));
}

void text_in(ImU32 color, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  ImGui::PushStyleColor(ImGuiCol_Text, color);
  ImGui::TextV(format, arguments);
  ImGui::PopStyleColor();
  va_end(arguments);
}

void bold_text(const std::string& text) {
  ImGui::PushFont(loaded.bold);
  ImGui::TextUnformatted(text.c_str());
  ImGui::PopFont();
}

}  // namespace lunagrad

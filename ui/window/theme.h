#pragma once
// Colours, fonts and measures of the window, light and dark. Categorical colours are Okabe and Ito's, which
// stay apart for the common kinds of colour blindness. Belongs to the drawing thread, as Dear ImGui does.
#include <imgui.h>

#include <array>
#include <string>

namespace lunagrad {

struct Theme {
  bool dark = true;
  ImU32 background, panel, raised, hovered, border, grid;
  ImU32 text, muted, faint;
  ImU32 accent, good, warning, bad;
  ImU32 canvas;                 // behind the graph
  std::array<ImU32, 7> series;  // curves
  std::array<ImU32, 8> family;  // of ops, see op_family.h
};

struct Fonts {
  ImFont* body = nullptr;
  ImFont* bold = nullptr;
  ImFont* mono = nullptr;
  std::array<ImFont*, 3> plain_sizes{},
      bold_sizes{};  // for drawings that zoom: 0.7, 1 and 1.6 times the body

  // The one that is sharpest at `pixels`.
  ImFont* sized(bool bold, float pixels) const;
};

const Theme& theme();
void set_theme(bool dark);  // also sets Dear ImGui's style
// Fonts from fontconfig, at `scale` times 15 pixels; Dear ImGui's own font where there are none.
void load_fonts(float scale);
void use_font(ImFont*);  // one for everything, of a host that has built its fonts
const Fonts& fonts();
float font_scale();

// The unit of all measures: the height of the body font times n, in pixels.
float em(float n);
// WCAG's contrast ratio of two opaque colours, 1 to 21.
double contrast(ImU32 a, ImU32 b);
ImU32 with_alpha(ImU32 color, float alpha);
ImU32 blend(ImU32 a, ImU32 b, float t);  // t = 0: a

// Text in another colour or font.
void text_in(ImU32 color, const char* format, ...) IM_FMTARGS(2);
void bold_text(const std::string&);
// Shows the text, wrapped, while the mouse rests on the last item.
void explain(const char* text);

}  // namespace lunagrad

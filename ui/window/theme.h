#pragma once
// Colours, fonts and measures of the window, light and dark. The categorical colours are from Okabe and Ito;
// people with common kinds of colour blindness can tell them apart. Drawing thread only, like Dear ImGui.
#include <imgui.h>

#include <array>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace lunagrad {

struct Theme {
  bool dark = true;
  ImU32 background, panel, raised, hovered, border, grid;
  ImU32 text, muted, faint;
  ImU32 accent, good, warning, bad;
  ImU32 canvas;                 // background of the graph
  std::array<ImU32, 7> series;  // colours of curves
  std::array<ImU32, 8> family;  // colours of op families, see op_family.h
};

struct Fonts {
  ImFont* body = nullptr;
  ImFont* bold = nullptr;
  ImFont* mono = nullptr;
  std::vector<ImFont*> plain_sizes, bold_sizes;  // for zoomed drawings, from small to large

  // A font that has the glyphs of `text`, and the size to draw it with, at most `pixels`. It is the size for
  // which the glyphs were made, since scaled glyphs lose thin lines.
  struct Label {
    ImFont* font;
    float size;
    float width(std::string_view text) const;
  };
  Label label(bool bold, float pixels, std::string_view text) const;
};
// The text, or as much of its beginning as fits, with "…".
std::string fitting_text(std::string_view text, const Fonts::Label&, float width);
// The width of the widest of the texts that an item may have, so that nothing moves when its text changes.
float widest(std::initializer_list<const char*> texts);
// A name, or the last parts of a path behind "…", or its beginning and its end with "…" between them: names
// in a row differ at their ends, as in "blocks.12". From the last dot on, the end stays as long as it fits.
std::string fitting_name(std::string_view name, const Fonts::Label&, float width);

const Theme& theme();
void set_theme(bool dark);  // also sets Dear ImGui's style
// Loads fonts from fontconfig, at `scale` times 15 pixels; uses Dear ImGui's own font if there are none.
void load_fonts(float scale);
void use_font(ImFont*);  // uses one font for everything: for a host that has already built its fonts
const Fonts& fonts();
float font_scale();

// The unit of all measures: n times the height of the body font, in pixels.
float em(float n);
// WCAG contrast ratio of two opaque colours, 1 to 21.
double contrast(ImU32 a, ImU32 b);
ImU32 with_alpha(ImU32 color, float alpha);
ImU32 blend(ImU32 a, ImU32 b, float t);  // t = 0: a
std::string hex_color(ImU32);            // "#rrggbb", for files

// Text in another colour or font.
void text_in(ImU32 color, const char* format, ...) IM_FMTARGS(2);
void bold_text(const std::string&);
void color_box(ImU32 color);  // a square before a word of a legend; the next item is placed beside it
// A tooltip with wrapped text while the mouse is over the last item, until it is pressed; tooltip.cpp places
// it.
void explain(const char* text);

}  // namespace lunagrad

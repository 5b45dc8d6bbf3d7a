#pragma once
// The probes in the Time panel: the list, the replay that computes their values in earlier steps, and a form
// for a new probe. Owns the texts of the form. Drawing thread only.
#include <string>

#include "ui/workbench/workbench.h"

namespace lunagrad {

// Shows the Time panel with this probe in its form.
void propose_probe(Workbench&, Probe);
// The same with a probe of the line at the editor's caret.
void propose_probe_at_caret(Workbench&);
// Draws a menu item that proposes a probe. `parameter`: the name of a parameter, as on the tape or in the
// model; "": the probe is of the values in the line at `place`.
void draw_probe_item(Workbench&, const std::string& parameter, const SourcePlace& place = {});

class ProbeList {
 public:
  // Takes a menu's proposal into the form. Returns true when there was one.
  bool take_proposed(Workbench&);
  void draw(Workbench&);
  void draw_button(Workbench&);  // opens the form
  void draw_form(Workbench&);    // draws the form while it is open; once a frame, in the panel's window

 private:
  bool draw_fields(Workbench&);
  bool add(Workbench&);
  static void draw_progress(Workbench&);
  static void draw_list(Workbench&);
  static void draw_row(Workbench&, const ProbeController::Item&);

  char expression_[1024] = "", place_[512] = "", name_[256] = "";
  std::string problem_;
  bool opens_ = false;  // the form opens in this frame
};

}  // namespace lunagrad

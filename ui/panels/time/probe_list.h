#pragma once
// The probes in the Time panel: the list, the replay that fills in earlier steps, and a form for a new one.
// Owns the texts of the form. Drawing thread only.
#include <string>

#include "ui/workbench/workbench.h"

namespace lunagrad {

// Shows the Time panel with this probe in its form.
void propose_probe(Workbench&, Probe);
// The same for the line of the editor's caret.
void propose_probe_at_caret(Workbench&);
// An item of a menu: a probe of a parameter, which is named as the tape or the model names it; "": of what
// the line at `place` works with.
void draw_probe_item(Workbench&, const std::string& parameter, const SourcePlace& place = {});

class ProbeList {
 public:
  // Puts what a menu has suggested into the form. True: something was suggested.
  bool take_proposed(Workbench&);
  void draw(Workbench&);
  void draw_button(Workbench&);  // that opens the form
  void draw_form(Workbench&);    // while it is open; once a frame, in the panel's window

 private:
  bool draw_fields(Workbench&);
  bool add(Workbench&);
  static void draw_progress(Workbench&);
  static void draw_list(Workbench&);
  static void draw_row(Workbench&, const ProbeDesk::Item&);

  char expression_[1024] = "", place_[512] = "", name_[256] = "";
  std::string problem_;
  bool opens_ = false;  // the form, in this frame
};

}  // namespace lunagrad

#pragma once
// The probes in the Time panel: a form for a new one, the replay that fills in earlier steps, and the list.
// Owns the texts of the form. Drawing thread only.
#include <string>

#include "ui/workbench/workbench.h"

namespace lunagrad {

// Shows the Time panel with this probe in its form.
void propose_probe(Workbench&, Probe);
// The same for the line of the editor's caret.
void propose_probe_at_caret(Workbench&);
// An item of a menu: a probe of a parameter, which is named as the tape or the model names it; "": of what the
// line at `place` works with.
void draw_probe_item(Workbench&, const std::string& parameter, const SourcePlace& place = {});

class ProbeList {
 public:
  // Puts what a menu has suggested into the form. True: something was suggested.
  bool take_proposed(Workbench&);
  void draw(Workbench&);

 private:
  void draw_form(Workbench&);
  void add(Workbench&);
  static void draw_progress(Workbench&);
  static void draw_list(Workbench&);
  static void draw_row(Workbench&, const ProbeDesk::Item&);

  char expression_[1024] = "", place_[512] = "", name_[256] = "";
  std::string problem_;
  bool focus_ = false;  // the form wants it
};

}  // namespace lunagrad

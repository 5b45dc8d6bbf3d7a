#pragma once
// Which texts of the script and its modules the steps of the window's run ran: for panels that show source
// lines, and for the editor, which shows the text of a past step in place of the present one. Texts are taken
// from the journal or, at a step that a replay computed, from the replay. Drawing thread only.
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "ui/actions/shown_step.h"
#include "ui/actions/text_controller.h"
#include "ui/runs/journal.h"
#include "ui/runs/text_history.h"
#include "ui/tape/model.h"

namespace lunagrad {

class StepTexts {
 public:
  // The references outlive this object. `given`: whether the current run began with another text than the
  // script's file, as a fork does.
  StepTexts(const Journal&, const ShownStep&, const TapeModel&, TextController&, std::function<bool()> given);

  // The line as `step` ran it, without its indent; "" if the text of then is not known. A file that the run
  // did not load as its script or as a module is read from the disk.
  std::string line(const SourcePlace&, int64_t step);
  std::string line_of_tape(const SourcePlace&);  // as the step of the shown tape ran it
  // The text of the document's file; null if it is not known, or the run did not load the file.
  SourceTextPtr of_tape(const Document&);
  SourceTextPtr at(const Document&, int64_t step);

  // What the editor shows in place of a document, or says above it.
  struct Past {
    SourceTextPtr text;  // null: the text of then is not known, and the document is shown
    std::string sentence;
    bool live = false;  // the cursor is live: the run itself has another text than the file
  };
  // Null while the document is shown, and nothing is to be said. It is decided when the window's step changes
  // or a text is loaded, not while the user types.
  const Past* in_place_of(const Document&);
  void show_present() { present_in_ = journal_.runs(); }  // at the live cursor, until a run begins
  // While the editor shows a past text of this document, nothing changes the document: returns true, and the
  // editor says why.
  bool refuses_change(const Document&);
  bool refused() const { return refused_; }

 private:
  struct Moment {     // what a decision depends on
    bool own = true;  // the document is shown in any case
    uint64_t runs = 0, revision = 0;
    std::optional<int64_t> past;  // the cursor, if it is not live
    std::string path;
    bool operator==(const Moment&) const = default;
  };
  struct Decision {
    Moment moment;
    uint64_t source = 0;  // the replay that was shown
    std::optional<Past> past;
  };
  struct Named {
    uint64_t runs = 0, revision = 0, source = 0;
    bool former = false;
    std::string path, file;
  };
  using Found = TextHistory::Found;
  const TextHistory& history(bool former) const {
    return former ? journal_.former_texts() : journal_.texts();
  }
  void take_replayed();
  std::optional<Found> find(const std::string& file, int64_t step, bool former);
  const std::string& file_of(const Document&, bool former);
  std::optional<Past> decide(const Document&);

  const Journal& journal_;
  const ShownStep& shown_;
  const TapeModel& tape_;
  TextController& texts_;
  const std::function<bool()> given_;
  std::map<std::string, SourceTextPtr> replayed_;  // texts of the replayed step
  uint64_t replay_ = 0;                            // the replay that they are of
  std::map<int, Named> names_;                     // by id of the document
  std::map<int, Decision> decisions_;              // by id of the document
  std::optional<uint64_t> present_in_;             // the run in which the user chose the document
  bool refused_ = false;
};

}  // namespace lunagrad

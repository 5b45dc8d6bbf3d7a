#include "ui/actions/step_texts.h"

#include <algorithm>
#include <utility>

#include "runtime/core/figures.h"

namespace lunagrad {

StepTexts::StepTexts(const Journal& journal, const ShownStep& shown, const TapeModel& tape,
                     TextController& texts, std::function<bool()> given)
    : journal_(journal), shown_(shown), tape_(tape), texts_(texts), given_(std::move(given)) {}

void StepTexts::take_replayed() {
  if (replay_ == shown_.source()) return;
  replay_ = shown_.source();
  replayed_.clear();
  const ReplayController::Position* const position = shown_.replay().position();
  if (replay_ == 0 || !position || !position->texts) return;
  for (const auto& [file, content] : *position->texts)
    replayed_[file] = std::make_shared<const SourceText>(content);
}

std::optional<TextHistory::Found> StepTexts::find(const std::string& file, int64_t step, bool former) {
  std::optional<Found> found = history(former).at(file, step);
  take_replayed();
  const ReplayController::Position* const position = shown_.replay().position();
  if (former || replay_ == 0 || !position || position->step != step) return found;
  const auto ran = replayed_.find(file);
  if (ran == replayed_.end()) return found;
  // Without a text of this step the history cannot tell when its text was replaced.
  if (!found || !found->text) found = Found{};
  found->text = ran->second;
  return found;
}

std::string StepTexts::line(const SourcePlace& place, int64_t step) {
  const std::optional<Found> found = find(place.file, step, false);
  if (!found) return texts_.source_line(place);
  if (!found->text) return {};
  const std::string line = printable(found->text->line(place.line));
  return line.substr(std::min(line.find_first_not_of(' '), line.size()));
}

std::string StepTexts::line_of_tape(const SourcePlace& place) {
  if (!tape_.former()) return line(place, shown_.step());
  const std::optional<Found> found = find(place.file, shown_.step(), true);
  if (!found || !found->text) return {};
  const std::string line = printable(found->text->line(place.line));
  return line.substr(std::min(line.find_first_not_of(' '), line.size()));
}

// The name of the document's file on tapes, which may be another path to it; "" if the run did not load it.
const std::string& StepTexts::file_of(const Document& document, bool former) {
  const std::string& own = document.path.empty() ? document.title : document.path;
  take_replayed();
  const TextHistory& texts = history(former);
  Named& named = names_[document.id];
  if (named.path == own && named.runs == journal_.runs() && named.revision == texts.revision() &&
      named.source == replay_ && named.former == former)
    return named.file;
  named = {journal_.runs(), texts.revision(), replay_, former, own, ""};
  std::vector<std::string> files = texts.files();
  for (const auto& [file, text] : replayed_) files.push_back(file);
  const auto is_it = [&](const std::string& file) {
    return document.path.empty() ? file == own : same_file(file, own);
  };
  auto at = std::find(files.begin(), files.end(), own);
  if (at == files.end()) at = std::find_if(files.begin(), files.end(), is_it);
  if (at != files.end()) named.file = *at;
  return named.file;
}

SourceTextPtr StepTexts::of_tape(const Document& document) {
  const std::string& file = file_of(document, tape_.former());
  const std::optional<Found> found = file.empty() ? std::nullopt : find(file, shown_.step(), tape_.former());
  return found ? found->text : nullptr;
}

SourceTextPtr StepTexts::at(const Document& document, int64_t step) {
  const std::string& file = file_of(document, false);
  const std::optional<Found> found = file.empty() ? std::nullopt : find(file, step, false);
  return found ? found->text : nullptr;
}

std::optional<StepTexts::Past> StepTexts::decide(const Document& document) {
  const std::string& file = file_of(document, false);
  const std::optional<Found> found =
      file.empty() ? std::nullopt : find(file, shown_.live() ? INT64_MAX : shown_.cursor(), false);
  if (!found) return std::nullopt;
  Past past{found->text, document.title, shown_.live()};
  if (past.live) {
    if (!found->first || !found->text) return std::nullopt;
    past.sentence += " as this fork runs it: the file has another text now. Read only.";
  } else {
    past.sentence += " as of step " + count_figure(shown_.cursor());
    if (!found->text) {
      past.sentence += " is not kept: this is the text of now.";
      return past;
    }
    past.sentence += found->until ? ", before the reload at step " + count_figure(*found->until)
                                  : std::string(", before it was changed");
    past.sentence += ". Read only.";
  }
  if (found->text->content() == document.buffer.content()) return std::nullopt;
  return past;
}

const StepTexts::Past* StepTexts::in_place_of(const Document& document) {
  // Of the live steps only a run that was given its text has another one. The events of a run that is still
  // to begin have not arrived.
  const bool shows_own =
      shown_.live() && (!given_() || present_in_ == journal_.runs() || journal_.awaits_end());
  Moment now;
  if (!shows_own) {
    now = {false, journal_.runs(), journal_.texts().revision(), std::nullopt, document.path};
    if (!shown_.live()) now.past = shown_.cursor();
  }
  Decision& decision = decisions_[document.id];
  const bool lacks = decision.past && !decision.past->text && decision.source != shown_.source();
  if (decision.moment != now || lacks) {
    decision = {now, shown_.source(), shows_own ? std::nullopt : decide(document)};
    refused_ = false;
  }
  return decision.past ? &*decision.past : nullptr;
}

bool StepTexts::refuses_change(const Document& document) {
  const Past* const past = in_place_of(document);
  if (!past || !past->text) return false;
  return refused_ = true;
}

}  // namespace lunagrad

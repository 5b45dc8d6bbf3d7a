#pragma once
// The sections of the documents in docs/, and the help on an op from its record. No Lua; any thread.
#include <string>
#include <vector>

namespace lunagrad {

// A section of a document as plain text. Its name is the title in lower case with hyphens: "exit-codes". The
// introduction of a document has the document's name.
struct Topic {
  std::string document, name, text;
  bool nested;  // part of another section, whose text includes this one
};

// All introductions and sections, in the order of the documents. Read from disk once.
const std::vector<Topic>& topic_list();
// The text of a document: its introduction and all sections; "" if there is no such document.
std::string document_text(const std::string& document);

// The help on an op: call, sentence, parameters with defaults and choices. "" if there is no such op.
std::string explain_name(const std::string& name);
// The names of all sections by document, for `lunagrad help`.
std::string list_topics();

}  // namespace lunagrad

#pragma once
// The sections of the documents, and what the record of an operation says of it.
#include <string>
#include <vector>

namespace lunagrad {

// A section of a document, as plain text.
struct Topic {
  std::string document, name, text;
};

const std::vector<Topic>& topic_list();

// About an op (from its record: call, arguments, defaults, sentence); "" when there is none of that name.
std::string explain_name(const std::string& name);
std::string list_topics();

}  // namespace lunagrad

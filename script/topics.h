#pragma once
// What `lunagrad help TOPIC` and `?name` in the prompt say.
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
// About a section of the documents ("exit-codes", "training", or a part of its name) or an op; "" when there is nothing.
std::string explain_topic(const std::string& topic);
std::string list_topics();

}  // namespace lunagrad

#pragma once
// The difference between two recorded tapes: nodes that only one has, nodes that changed, and values that
// moved, ranked so that what caused a difference stands above what follows from it. Plain values; the
// functions are pure: any thread.
#include <string>
#include <vector>

#include "script/tape_diff/graph.h"

namespace lunagrad {

struct TapeDiffOptions {
  // A value moved when its extremes or its mean differ by more than atol + rtol times its largest magnitude,
  // or when its norm or its estimated distance exceeds atol sqrt(elements) + rtol norm.
  double rtol = 0, atol = 0;
  bool structure = false;  // leave values out
};

// A property that a pair of nodes does not share.
struct TapeChange {
  std::string what, from, to;  // "shape", "[32, 10]", "[16, 10]"; of a parameter of the op "dim"
  bool follows = false;        // from a change of an input, or of the same node
  bool counts = true;          // false: information that makes no difference, such as a line
};

// How far a value moved, in a unit in which 1 is about its own size.
struct TapeMove {
  bool known = false;  // both sides have it, in one shape
  bool moved = false, follows = false;
  // The estimated distance by the larger norm, at most 1, plus the logarithm of the ratio of the magnitudes,
  // plus 20 and the part of the elements if their NaN or infinities differ.
  double score = 0;
  double distance = 0;  // relative
};

struct TapePair {
  int a = -1, b = -1;  // numbers of nodes; -1: only the other tape has it
  std::vector<TapeChange> changes;
  TapeMove value, gradient;
};

// A line of the ranking.
struct TapeFinding {
  enum class Kind { removed, added, changed, value, gradient };
  Kind kind = Kind::value;
  std::vector<size_t> pairs;  // several if a whole module was removed or added
  std::string name;           // "net.3", "linear net.1"
  std::string text;           // one fact with values
  double score = 0;
  bool follows = false;
};

struct TapeDiff {
  TapeGraph a, b;
  TapeDiffOptions options;
  std::vector<TapePair> pairs;  // in the order of B, what only A has where it stood
  std::vector<TapeFinding> findings;
  std::vector<std::string> notes;  // what could not be compared, in sentences

  bool equal() const { return findings.empty(); }
  size_t count(TapeFinding::Kind) const;  // nodes, not findings
};

// The pairs that both tapes have, those whose times differ most first: at most `most`, and none of equal
// times.
std::vector<size_t> by_time(const TapeDiff&, size_t most);
// Forward and backward, in ns.
double time_of(const TapeNode&);

TapeDiff compare_tapes(TapeGraph a, TapeGraph b, const TapeDiffOptions&);

}  // namespace lunagrad

#pragma once
// The difference between two recorded tapes: nodes that only one has, nodes that changed, and values that
// moved, ranked so that causes come before their effects. Plain values; the functions are pure: any thread.
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

// A property in which the two nodes of a pair differ.
struct TapeChange {
  std::string what, from, to;  // "shape", "[32, 10]", "[16, 10]"; for a parameter of the op "dim"
  bool follows = false;        // follows from a change of an input, or of the same node
  bool counts = true;          // false: information that makes no difference, such as a line
};

// How far a value moved. 1 is about the size of the value itself.
struct TapeMove {
  bool known = false;  // both tapes have it, in the same shape
  bool moved = false, follows = false;
  // The sum of: the estimated distance relative to the larger norm, at most 1; the logarithm of the ratio of
  // the magnitudes; and, if NaN or infinities differ, 20 plus the fraction of such elements.
  double score = 0;
  double distance = 0;  // relative to the larger norm
};

struct TapePair {
  int a = -1, b = -1;  // indices of the nodes; -1: only the other tape has the node
  std::vector<TapeChange> changes;
  TapeMove value, gradient;
};

// An entry of the ranking.
struct TapeFinding {
  enum class Kind { removed, added, changed, value, gradient };
  Kind kind = Kind::value;
  // several if a whole module was removed or added, or if many nodes share a change
  std::vector<size_t> pairs;
  std::string name;  // "net.3", "linear net.1"
  std::string text;  // one fact with values
  double score = 0;
  bool follows = false;
};

struct TapeDiff {
  TapeGraph a, b;
  TapeDiffOptions options;
  std::vector<TapePair> pairs;  // in the order of B; nodes that only A has are at their place in A
  std::vector<TapeFinding> findings;
  std::vector<std::string> notes;  // what could not be compared, in sentences

  bool equal() const { return findings.empty(); }
  size_t count(TapeFinding::Kind) const;  // counts nodes, not findings
};

// "2.36 → 0.64", with so many digits that the two numbers look different.
std::string change_figure(double from, double to);
// How far a value moved that both tapes have: "by 0.3", of its norm; for a single number "1.2 → 1.4"; if NaN
// or infinities differ "NaN 0 → 3 of 8".
std::string distance_text(const TapeMove&, const TapeValue& a, const TapeValue& b);

// At most `most` pairs of nodes that both tapes have, those with the largest difference of times first. Pairs
// with equal times are left out.
std::vector<size_t> by_time(const TapeDiff&, size_t most);
// Forward and backward, in ns.
double time_of(const TapeNode&);

}  // namespace lunagrad

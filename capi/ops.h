#pragma once
// The operations that a C host may call: the public records with their in-place forms, in the order of
// all_ops(). Built once, then constant: any thread. An lg_op handle is the number of an entry.
#include <string>
#include <vector>

#include "capi/handles.h"
#include "script/meta/signature.h"

namespace lunagrad::capi {

struct OpEntry {
  const Signature* signature;
  bool in_place;
  std::string name;                  // "add_" for an in-place form
  std::vector<std::string> aliases;  // second names
  std::vector<const char*> alias_pointers;
};

const std::vector<OpEntry>& op_entries();
// The entry of a handle. LG_INVALID_HANDLE otherwise.
const OpEntry& entry_of(const lg_op*);

}  // namespace lunagrad::capi

#include "script/view/leaks.h"

namespace lunagrad {

const char* leak_name(Leak::What what) {
  switch (what) {
    case Leak::What::tapes:
      return "tapes";
    case Leak::What::parameters:
      return "parameters";
    case Leak::What::tensors:
      break;
  }
  return "tensors";
}

}  // namespace lunagrad

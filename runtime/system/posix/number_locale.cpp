#include "runtime/system/number_locale.h"

#include <locale.h>

namespace lunagrad {

static thread_local NumberLocale* of_this_thread = nullptr;

NumberLocale::NumberLocale() {
  of_this_thread = this;
  refresh();
}

NumberLocale::~NumberLocale() {
  of_this_thread = nullptr;
  uselocale(LC_GLOBAL_LOCALE);
  if (used_) freelocale(locale_t(used_));
}

// Without memory for a locale the thread keeps its locale.
void NumberLocale::refresh() {
  const locale_t program = duplocale(LC_GLOBAL_LOCALE);
  if (!program) return;
  const locale_t made = newlocale(LC_NUMERIC_MASK, "C", program);  // takes over `program`
  if (!made) {
    freelocale(program);
    return;
  }
  uselocale(made);
  if (used_) freelocale(locale_t(used_));
  used_ = made;
}

ProgramLocale::ProgramLocale() : before_(uselocale(LC_GLOBAL_LOCALE)) {}
ProgramLocale::~ProgramLocale() { uselocale(locale_t(before_)); }

void refresh_number_locale() {
  if (of_this_thread) of_this_thread->refresh();
}

}  // namespace lunagrad

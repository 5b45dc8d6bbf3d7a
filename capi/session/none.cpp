// The functions of sessions in a library that is built without scripts: no session can be opened, so the
// others are given no handle of one.
#include "capi/engine.h"
#include "capi/sessions.h"

using namespace lunagrad::capi;

void lunagrad::capi::close_session(HandleSlot&) {}

static lg_code none() {
  return wall([] { refuse(LG_NOT_FOUND, "this library is built without scripts: it has no sessions"); });
}

lg_code lg_session_open(lg_engine*, const lg_session_options*, lg_session**) { return none(); }
lg_code lg_session_close(lg_session*, double) { return none(); }
lg_code lg_session_run_text(lg_session*, const char*, size_t, const lg_run*) { return none(); }
lg_code lg_session_run_file(lg_session*, const char*, const lg_run*) { return none(); }
lg_code lg_session_step(lg_session*, double, int32_t*) { return none(); }
lg_code lg_session_pause(lg_session*) { return none(); }
lg_code lg_session_resume(lg_session*) { return none(); }
lg_code lg_session_stop(lg_session*, int32_t) { return none(); }
lg_code lg_session_wait(lg_session*, double, int32_t*) { return none(); }
lg_code lg_session_get_info(lg_session*, lg_session_info*) { return none(); }
lg_code lg_session_evaluate(lg_session*, const char*, double, lg_text**) { return none(); }
lg_code lg_session_set_param(lg_session*, const char*, const char*) { return none(); }
lg_code lg_session_set(lg_session*, const char*, lg_value*) { return none(); }
lg_code lg_session_get(lg_session*, const char*, lg_value**, int64_t*) { return none(); }
lg_code lg_session_add_function(lg_session*, const char*, lg_function, void*) { return none(); }
lg_code lg_session_add_op(lg_session*, const lg_host_op*) { return none(); }
lg_code lg_session_poll_event(lg_session*, double, lg_event*) { return none(); }
lg_code lg_session_tape(lg_session*, lg_text**) { return none(); }

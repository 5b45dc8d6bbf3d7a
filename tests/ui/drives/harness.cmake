# Shared by the tests of the window: an empty folder WORK, a display, and a check of a command's exit.
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
# xvfb-run has its own exit code when it cannot clean up; the program's exit code is written to a file. The
# state folder is empty at the start.
file(WRITE ${WORK}/keep_code "XDG_STATE_HOME=${WORK}/state \"$@\"\necho $? >${WORK}/exit_code\n")
set(display ${XVFB} -a -n ${NUMBER} -s "-screen 0 2560x1440x24" sh ${WORK}/keep_code)
set(faults 0)

# Runs a command in the work folder and checks its exit code and a part of its output, which is left in `said`.
function(expect name code words)
  file(REMOVE ${WORK}/exit_code)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${WORK} RESULT_VARIABLE result OUTPUT_VARIABLE said
                  ERROR_VARIABLE said TIMEOUT 600)
  if(EXISTS ${WORK}/exit_code)
    file(STRINGS ${WORK}/exit_code result)
  endif()
  string(FIND "${said}" "${words}" found)
  if(NOT result STREQUAL code OR found EQUAL -1)
    message("${name}: exit code ${result}, expected ${code} and \"${words}\"\n${said}")
    math(EXPR faults "${faults} + 1")
    set(faults ${faults} PARENT_SCOPE)
  endif()
  set(said "${said}" PARENT_SCOPE)
endfunction()

function(finish)
  if(faults)
    message(FATAL_ERROR "${faults} faults in driving the window")
  endif()
endfunction()

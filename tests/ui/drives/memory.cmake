# What the window holds beside the run: its process against the same run without a window, once as many steps are kept as
# the budget allows and every panel was looked at, on a large screen.
include(${CMAKE_CURRENT_LIST_DIR}/harness.cmake)

set(script ${CMAKE_CURRENT_LIST_DIR}/memory_script.lua)
expect(alone 0 "resident" ${LUNAGRAD} run ${script} -- alone)
string(REGEX MATCH "resident ([0-9]+) MiB" found "${said}")
set(own ${CMAKE_MATCH_1})
expect(window 0 "" ${display} ${WORKBENCH} ${script} ${VALIDATION} --size 2560x1440 --drive
       ${CMAKE_CURRENT_LIST_DIR}/memory.lua ${WORK} ${own})
finish()

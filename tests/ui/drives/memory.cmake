# The memory of the window in addition to the run's: its process against the same run without a window, when the budget of
# kept steps is full and every panel was shown, on a large screen. Then the memory of a long run of short steps, which may
# not grow with their number.
include(${CMAKE_CURRENT_LIST_DIR}/harness.cmake)

set(script ${CMAKE_CURRENT_LIST_DIR}/memory_script.lua)
expect(alone 0 "resident" ${LUNAGRAD} run ${script} -- alone)
string(REGEX MATCH "resident ([0-9]+) MiB" found "${said}")
set(own ${CMAKE_MATCH_1})
expect(window 0 "" ${display} ${WORKBENCH} ${script} ${VALIDATION} --size 2560x1440 --drive
       ${CMAKE_CURRENT_LIST_DIR}/memory.lua ${WORK} ${own})
expect(growth 0 "heap" ${display} ${WORKBENCH} ${CMAKE_CURRENT_LIST_DIR}/growth_script.lua ${VALIDATION} --size 1280x800
       --drive ${CMAKE_CURRENT_LIST_DIR}/growth.lua)
message("${said}")
finish()

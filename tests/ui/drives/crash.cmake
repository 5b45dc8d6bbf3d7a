# kill -9 during a run: the next start restores script and arguments, and with one click continues from an automatic
# checkpoint to the exact end of an uninterrupted run.
include(${CMAKE_CURRENT_LIST_DIR}/harness.cmake)
set(state ${WORK}/crash-state)
set(drives ${SOURCE}/tests/ui/drives)
expect(killed 137 "" ${display} ${WORKBENCH} ${drives}/go_on_script.lua --size 1280x800 --checkpoint-every 0.1 --state ${state}
       ${VALIDATION} --drive ${drives}/crash.lua ${WORK} -- 8000)
expect(resumed 0 "" ${display} ${WORKBENCH} --size 1280x800 --state ${state} ${VALIDATION} --drive ${drives}/crash_again.lua
       ${WORK})
finish()

# The window: layout, commands, help, closing; kept between starts, restored after a crash.
include(${CMAKE_CURRENT_LIST_DIR}/harness.cmake)
set(state ${WORK}/frame-state)
function(frame name)
  expect(${name} 0 "first frame after" ${display} ${WORKBENCH} --drive ${SOURCE}/tests/ui/drives/${name}.lua ${WORK}
         --state ${state} --times ${VALIDATION})
  set(faults ${faults} PARENT_SCOPE)
endfunction()

file(GLOB checkpoints_before ${WORK}/runs/*/checkpoints/*)
frame(frame)
file(GLOB checkpoints ${WORK}/runs/*/checkpoints/*)
if(checkpoints STREQUAL "${checkpoints_before}")
  message("frame: closing with a checkpoint wrote none")
  math(EXPR faults "${faults} + 1")
endif()
frame(frame_again)
file(WRITE ${state}/running/1
     "{\"script\": \"${SOURCE}/examples/03_xor.lua\", \"folder\": \"\", \"arguments\": [], \"set\": {}, \"device\": \"\"}")  # as a window leaves it that crashed
file(WRITE ${state}/workbench.json "{\"layout\": half")
frame(frame_crashed)

set(bare ${CMAKE_COMMAND} -E env --unset=DISPLAY --unset=WAYLAND_DISPLAY)
get_filename_component(programs ${WORKBENCH} DIRECTORY)
expect(open-no-display 5 "there is no display" ${bare} ${programs}/lunagrad open)
file(WRITE ${WORK}/no-loader/libvulkan.so.1 "")
expect(open-no-loader 5 "package libvulkan1" ${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${WORK}/no-loader DISPLAY=:0
       ${programs}/lunagrad open)
finish()

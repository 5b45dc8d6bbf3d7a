# The tests of the real window, included by cmake/ui.cmake: one ctest entry for each drive, so that they run in parallel.
# Under a sanitizer only the drives in SANITIZED run. Together they train, pause, step, hit breakpoints, evaluate, reload,
# inspect values and profile.
set(SANITIZED digits editor inspect nan panels watch)
find_program(XVFB_RUN xvfb-run REQUIRED)
find_program(XDOTOOL xdotool REQUIRED)

# Adds the test window-NAME: it runs tests/ui/drives/SCRIPT with its own folder and display number.
function(window_test NAME SCRIPT)
  string(REGEX REPLACE ".*-DDRIVE=([^;]*).*" "\\1" FILE "${SCRIPT};${ARGN}")
  string(REGEX REPLACE ";.*" "" FILE "${FILE}")
  if((LUNAGRAD_SANITIZE AND NOT NAME IN_LIST SANITIZED) OR ${PROJECT_SOURCE_DIR}/tests/ui/drives/${FILE} IN_LIST LEFT_OUT_TESTS)
    return()
  endif()
  get_property(NUMBER GLOBAL PROPERTY LUNAGRAD_DISPLAY)
  math(EXPR NUMBER "${NUMBER} + 100")  # xvfb-run tries the next numbers when this one is taken
  set_property(GLOBAL PROPERTY LUNAGRAD_DISPLAY ${NUMBER})
  set(VALIDATION --validation)
  if(LUNAGRAD_SANITIZE)
    set(VALIDATION "")  # the layer is not instrumented, and ten times slower under a sanitizer
  endif()
  add_test(NAME window-${NAME} COMMAND ${CMAKE_COMMAND} -DWORKBENCH=$<TARGET_FILE:lunagrad-workbench>
           -DSOURCE=${PROJECT_SOURCE_DIR} -DWORK=${PROJECT_BINARY_DIR}/window/${NAME} -DXVFB=${XVFB_RUN} -DNUMBER=${NUMBER}
           -DVALIDATION=${VALIDATION} ${ARGN} -P ${PROJECT_SOURCE_DIR}/tests/ui/drives/${SCRIPT})
  if(LUNAGRAD_SANITIZE)  # Vulkan drivers free their memory only when the process ends
    set_tests_properties(window-${NAME} PROPERTIES ENVIRONMENT "ASAN_OPTIONS=detect_leaks=0")
  endif()
  if(NOT NAME STREQUAL digits)
    set_tests_properties(window-${NAME} PROPERTIES LABELS drives)  # the longer drives run in ./test --all only
  endif()
endfunction()

# drive(NAME LUA ARGUMENTS...): plays tests/ui/drives/LUA, whose arg[1] is its output folder. ARGUMENTS go to the workbench.
function(drive NAME LUA)
  list(JOIN ARGN " " ARGUMENTS)  # a list within a list would fall apart
  window_test(${NAME} drive.cmake -DDRIVE=${LUA} -DARGUMENTS=${ARGUMENTS})
endfunction()

set(EPOCHS 400)
if(LUNAGRAD_SANITIZE)
  set(EPOCHS 20)  # a step takes ten times as long
endif()
set(DIGITS ${PROJECT_SOURCE_DIR}/examples/04_digits_mlp.lua --set epochs=${EPOCHS})
# The first run ends by itself. The second lasts longer than any drive, on a fast machine too.
drive(digits digits.lua ${DIGITS} --size 1280x800)
set(LASTING ${PROJECT_SOURCE_DIR}/examples/04_digits_mlp.lua --set epochs=1000)
drive(tour tour.lua ${LASTING} --size 1280x800)
drive(tour-large tour.lua ${LASTING} --size 2560x1440)
drive(charts charts.lua ${PROJECT_SOURCE_DIR}/tests/ui/drives/charts_script.lua --size 1280x800)
drive(long-run long_run.lua ${PROJECT_SOURCE_DIR}/tests/ui/drives/long_run_script.lua --size 1920x1080)
drive(legend legend.lua ${LASTING} --size 1920x1080 --scale 1.6)
drive(graph graph.lua ${PROJECT_SOURCE_DIR}/tests/ui/drives/transformer.lua --set layers=6 --set width=32 --set length=32
      --set steps=100000 --size 1280x800)
drive(watch watch.lua ${LASTING} --size 1280x800)
drive(nan nan.lua ${PROJECT_SOURCE_DIR}/tests/ui/drives/nan_script.lua --size 1280x800)
drive(hints hints.lua ${PROJECT_SOURCE_DIR}/tests/ui/drives/hints_script.lua --size 1280x800)
drive(panels panels.lua ${PROJECT_SOURCE_DIR}/tests/ui/drives/profile.lua --size 1280x800)
if(TARGET lunagrad-gpu)
  drive(gpu gpu.lua ${PROJECT_SOURCE_DIR}/tests/ui/drives/profile.lua --device vulkan --size 1280x800)
endif()
# A drive for one panel: each file panels/NAME.lua is window-panel-NAME, during a run of profile.lua.
file(GLOB PANEL_DRIVES CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/tests/ui/drives
     ${PROJECT_SOURCE_DIR}/tests/ui/drives/panels/*.lua)
foreach(PANEL_DRIVE ${PANEL_DRIVES})
  get_filename_component(PANEL ${PANEL_DRIVE} NAME_WE)
  drive(panel-${PANEL} ${PANEL_DRIVE} ${PROJECT_SOURCE_DIR}/tests/ui/drives/profile.lua --size 1280x800)
endforeach()
if(TARGET lunagrad-mpi AND NOT LUNAGRAD_SANITIZE)  # MPI keeps memory
  drive(ranks ranks.lua ${PROJECT_SOURCE_DIR}/tests/ui/drives/ranks_script.lua --ranks 2 --size 1280x800)
  drive(ranks-sharded ranks_sharded.lua ${PROJECT_SOURCE_DIR}/tests/ui/drives/ranks_sharded_script.lua --ranks 2
        --size 1280x800)
  if(TARGET lunagrad-gpu)
    drive(ranks-gpu ranks.lua ${PROJECT_SOURCE_DIR}/tests/ui/drives/ranks_script.lua --ranks 2 --device vulkan --size 1280x800)
  endif()
endif()
drive(inspect inspect.lua ${LASTING} --size 1280x800)
drive(tips tips.lua ${LASTING} --size 1280x800)
drive(slices slices.lua ${PROJECT_SOURCE_DIR}/tests/ui/drives/slices_script.lua --size 1280x800)
drive(groups groups.lua ${PROJECT_SOURCE_DIR}/tests/ui/drives/groups_script.lua --size 1280x800)
drive(newcomer newcomer.lua --set epochs=1000 --size 1280x800)
# Surgery on the running model, with real mouse and keys.
drive(surgery surgery.lua ${LASTING} --size 1280x800)
drive(surgery-large surgery.lua ${LASTING} --size 1920x1080)
drive(freeze freeze.lua ${LASTING} --size 1280x800)
drive(names names.lua ${PROJECT_SOURCE_DIR}/tests/ui/drives/names_script.lua --size 1280x800)
drive(xdotool xdotool.lua ${LASTING} --size 1280x800)
# Commands by what they do.
drive(palette palette.lua ${LASTING} --size 1280x800)
# What a pause, the end of a run and an error show, with real mouse and keys.
drive(pause pause.lua ${LASTING} --size 1280x800)
drive(pause-gpt pause_gpt.lua ${PROJECT_SOURCE_DIR}/tests/ui/drives/transformer.lua --set layers=4 --set width=96
      --set length=96 --set steps=100000 --size 1280x800)
# A step compared with another way to compute it.
drive(compare-step compare_step.lua ${PROJECT_SOURCE_DIR}/tests/ui/drives/wrong_op_script.lua --size 1280x800)
drive(compare-cancel compare_cancel.lua ${PROJECT_SOURCE_DIR}/tests/ui/drives/transformer.lua --set layers=12 --set width=256
      --set length=192 --set steps=100000 --size 1280x800)
drive(compare-tapes compare_tapes.lua --size 1280x800)
drive(compare-runs compare_runs.lua --size 1280x800)
drive(owners owners.lua ${PROJECT_SOURCE_DIR}/tests/ui/drives/owners_script.lua --size 1280x800)
drive(end end.lua ${PROJECT_SOURCE_DIR}/examples/04_digits_mlp.lua --set epochs=4 --size 1280x800)
drive(outer outer.lua ${PROJECT_SOURCE_DIR}/tests/ui/drives/outer_script.lua --size 1280x800)
drive(error error.lua ${PROJECT_SOURCE_DIR}/tests/ui/drives/error_script.lua --size 1280x800)
drive(input input.lua ${LASTING} --size 1280x800)
drive(large-text large_text.lua ${LASTING} --size 1280x800 --scale 1.6)
drive(time time.lua ${PROJECT_SOURCE_DIR}/examples/04_digits_mlp.lua --set epochs=10000 --size 1280x800)
drive(past-text past_text.lua --size 1280x1200)
drive(cursor cursor.lua ${PROJECT_SOURCE_DIR}/examples/04_digits_mlp.lua --set epochs=10000 --size 1280x800)
drive(differs differs.lua ${PROJECT_SOURCE_DIR}/tests/ui/drives/differs_script.lua --size 1280x800)
drive(probes probes.lua ${PROJECT_SOURCE_DIR}/tests/ui/drives/probes_script.lua --size 1280x800)
drive(forks forks.lua ${PROJECT_SOURCE_DIR}/tests/ui/drives/probes_script.lua --set steps=400 --size 1280x800)
drive(slider slider.lua ${LASTING} --size 1280x800)
drive(wide-tape wide_tape.lua ${PROJECT_SOURCE_DIR}/tests/ui/drives/cnn_script.lua --size 1280x800)
drive(legible legible.lua ${PROJECT_SOURCE_DIR}/tests/ui/drives/chain_script.lua --size 1280x800)
drive(histograms histograms.lua ${PROJECT_SOURCE_DIR}/tests/ui/drives/histograms_script.lua --size 1280x800)
drive(first-nan first_nan.lua ${PROJECT_SOURCE_DIR}/tests/ui/drives/first_nan_script.lua --size 1280x800)
drive(alarms alarms.lua ${PROJECT_SOURCE_DIR}/tests/ui/drives/alarms_script.lua --size 1280x800)
drive(why why.lua ${PROJECT_SOURCE_DIR}/tests/ui/drives/why_script.lua --size 1280x800)
drive(go-on go_on.lua --size 1280x800)
drive(where where.lua ${PROJECT_SOURCE_DIR}/tests/ui/drives/where_script.lua --size 1280x800)
window_test(trust trust.cmake)
window_test(sandbox sandbox.cmake)
window_test(crash crash.cmake)
window_test(start start.cmake)
window_test(hostile hostile.cmake)
window_test(frame frame.cmake)
# Figures: the clicks that questions take.
window_test(clicks clicks.cmake)
window_test(curves curves.cmake)
window_test(editor editor.cmake)
window_test(save-and-continue save_and_continue.cmake)
window_test(hour hour.cmake)
window_test(actions actions.cmake)
window_test(runs runs.cmake)
window_test(sweep sweep.cmake)
window_test(pages pages.cmake)
window_test(memory memory.cmake -DLUNAGRAD=$<TARGET_FILE:lunagrad>)
window_test(light light.cmake)
if(TARGET lunagrad-gpu)
  window_test(pictures pictures.cmake)
endif()
add_test(NAME window-texts COMMAND ${PROJECT_SOURCE_DIR}/tests/ui/texts)

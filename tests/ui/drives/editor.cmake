# The editor, on a copy of the digits example, which it saves.
include(${CMAKE_CURRENT_LIST_DIR}/harness.cmake)
file(READ ${SOURCE}/examples/04_digits_mlp.lua script)
string(REPLACE "max = 1000}" "max = 100000}" script "${script}")  # it goes on for as long as the user needs
file(WRITE ${WORK}/texts/04_digits_mlp.lua "${script}")
file(COPY ${SOURCE}/assets/data/digits.csv DESTINATION ${WORK}/assets/data)
expect(editor 0 "" ${display} ${WORKBENCH} ${WORK}/texts/04_digits_mlp.lua ${VALIDATION} --size 1280x800 --set epochs=100000
       --drive ${SOURCE}/tests/ui/drives/editor.lua ${WORK})
file(STRINGS ${WORK}/texts/04_digits_mlp.lua saved REGEX "^-- Classifies.*, edited,")
if(NOT saved)
  message("editor: the text was not saved")
  math(EXPR faults "${faults} + 1")
endif()
finish()

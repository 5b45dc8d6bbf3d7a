# The editor, on a copy of the digits example, which it saves.
include(${CMAKE_CURRENT_LIST_DIR}/harness.cmake)
file(COPY ${SOURCE}/examples/04_digits_mlp.lua DESTINATION ${WORK}/texts)
file(COPY ${SOURCE}/assets/data/digits.csv DESTINATION ${WORK}/assets/data)
expect(editor 0 "" ${display} ${WORKBENCH} ${WORK}/texts/04_digits_mlp.lua ${VALIDATION} --size 1280x800 --set epochs=10000
       --drive ${SOURCE}/tests/ui/drives/editor.lua ${WORK})
file(STRINGS ${WORK}/texts/04_digits_mlp.lua saved REGEX "^-- Classifies.*, edited,")
if(NOT saved)
  message("editor: the text was not saved")
  math(EXPR faults "${faults} + 1")
endif()
finish()

# Reads a page of the documents for the tests of the window: save(NAME.lua) writes a block of Lua that begins with this name
# into WORK, opened(WHAT) sets `arguments` to what the page writes behind `lunagrad open`, play(WHAT DRIVE) opens it.
include(${CMAKE_CURRENT_LIST_DIR}/../harness.cmake)
get_filename_component(programs ${WORKBENCH} DIRECTORY)
foreach(folder assets examples)
  file(CREATE_LINK ${SOURCE}/${folder} ${WORK}/${folder} SYMBOLIC)
endforeach()

function(page name)
  file(READ ${SOURCE}/${name} text)
  set(page ${name} PARENT_SCOPE)
  set(page_text "${text}" PARENT_SCOPE)
endfunction()

function(save name)
  string(REGEX MATCH "```lua\n(-- ${name}\n[^`]*)```" block "${page_text}")
  if(NOT block)
    message(FATAL_ERROR "${page} has no block ${name}")
  endif()
  file(WRITE ${WORK}/${name} "${CMAKE_MATCH_1}")
endfunction()

function(opened what)
  if(NOT page_text MATCHES "\n\\$ (build/)?lunagrad open ${what}( [^\n#]*)?(#[^\n]*)?\n")
    message(FATAL_ERROR "${page} does not open ${what}")
  endif()
  separate_arguments(arguments UNIX_COMMAND "${CMAKE_MATCH_2}")
  set(arguments ${what} ${arguments} PARENT_SCOPE)
endfunction()

function(play what drive)
  opened(${what})
  expect("${page}: ${what}" 0 "" ${display} ${WORKBENCH} ${arguments} ${VALIDATION} --size 1280x800
         --drive ${SOURCE}/tests/ui/drives/pages/${drive} ${WORK})
  set(faults ${faults} PARENT_SCOPE)
endfunction()

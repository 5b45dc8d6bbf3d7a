# Functions for the list of parts (parts.cmake). Results:
#   PARTS                          the names of the parts that are built
#   PART_SOURCES                   the sources of all parts, also of those that are left out
#   LIBRARY_PARTS, PROGRAM_PARTS   object libraries for lunagrad-script and for the program
#   PART_PACKAGES                  what a host that links lunagrad-script must find: NAME=PKG-CONFIG-MODULE
#   PART_TESTS                     files tests.cmake that add entries of the parts that are built
#   LEFT_OUT_TESTS                 files of tests that need a part that is left out
#   PART_TABLES, COMMAND_TABLE     sources with the tables that script/parts/ and script/cli/part_commands.h declare
set(PARTS)
set(PART_SOURCES)
set(LIBRARY_PARTS)
set(PROGRAM_PARTS)
set(PART_PACKAGES)
set(PART_TESTS)
set(LEFT_OUT_TESTS)
set(FIELD_ROWS)
set(PART_FUNCTIONS)
set(PART_CALLS)
set(COMMAND_ROWS)
set(COMMAND_FUNCTIONS)

# The object library of a part's folders. part.cmake in a folder may add to PART_TARGET and set
# PACKAGES, which the library links.
macro(lunagrad_add_part_library KIND TARGET OPTIMIZE HEADER)
  set(SOURCES)
  set(PACKAGES)
  foreach(FOLDER IN LISTS GIVEN_${KIND})
    file(GLOB FOUND CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${FOLDER}/*.cpp)
    list(APPEND SOURCES ${FOUND})
  endforeach()
  list(APPEND PART_SOURCES ${SOURCES})
  if(SOURCES AND BUILT STREQUAL true AND NOT (${KIND} STREQUAL PROGRAM AND NOT LUNAGRAD_PROGRAMS))
    add_library(${TARGET} OBJECT ${SOURCES})
    target_compile_options(${TARGET} PRIVATE ${OPTIMIZE})
    list(LENGTH SOURCES COUNT)
    if(COUNT GREATER 3 AND NOT LUNAGRAD_GROUPS)  # a precompiled header takes as long as a few sources
      lunagrad_precompile_headers(${TARGET} ${HEADER})
    endif()
    target_link_libraries(${TARGET} PRIVATE lunagrad-runtime lunagrad-lua nlohmann_json::nlohmann_json Threads::Threads)
    set(PART_TARGET ${TARGET})
    foreach(FOLDER IN LISTS GIVEN_${KIND})
      include(${PROJECT_SOURCE_DIR}/${FOLDER}/part.cmake OPTIONAL)
    endforeach()
    foreach(PACKAGE IN LISTS PACKAGES)
      string(REPLACE "=" ";" PACKAGE ${PACKAGE})
      list(GET PACKAGE 0 NAME_IN_CMAKE)
      list(GET PACKAGE 1 MODULE)
      pkg_check_modules(LUNAGRAD_${NAME_IN_CMAKE} REQUIRED IMPORTED_TARGET ${MODULE})
      target_link_libraries(${TARGET} PRIVATE PkgConfig::LUNAGRAD_${NAME_IN_CMAKE})
    endforeach()
    lunagrad_group_sources(${TARGET})
    list(APPEND PART_PACKAGES ${PACKAGES})
    list(APPEND ${KIND}_PARTS ${TARGET})
  endif()
endmacro()

macro(lunagrad_part NAME TITLE)
  cmake_parse_arguments(GIVEN "" "" "LIBRARY;PROGRAM;LOADED;COMMANDS;FIELDS;TESTS" ${ARGN})
  string(TOUPPER LUNAGRAD_${NAME} OPTION)
  option(${OPTION} "build ${TITLE}" ON)
  set(BUILT false)
  if(${OPTION})
    set(BUILT true)
    list(APPEND PARTS ${NAME})
  endif()
  lunagrad_add_part_library(LIBRARY lunagrad-${NAME} ${LUNAGRAD_OPTIMIZE_ONCE} <lua.hpp>)
  lunagrad_add_part_library(PROGRAM lunagrad-${NAME}-program ${LUNAGRAD_OPTIMIZE_ONCE} <iostream>)
  if(${OPTION})
    foreach(FOLDER IN LISTS GIVEN_LOADED)
      include(${PROJECT_SOURCE_DIR}/${FOLDER}/part.cmake)
    endforeach()
  endif()
  if(TARGET lunagrad-${NAME})
    string(APPEND PART_FUNCTIONS "void add_part_${NAME}(Parts&);\n")
    string(APPEND PART_CALLS "    add_part_${NAME}(made);\n")
  endif()
  foreach(FIELD IN LISTS GIVEN_FIELDS)
    string(REPLACE "=" "\", \"" FIELD ${FIELD})
    string(APPEND FIELD_ROWS "    {\"${FIELD}\", ${BUILT}},\n")
  endforeach()
  foreach(COMMAND IN LISTS GIVEN_COMMANDS)
    if(${OPTION})
      string(APPEND COMMAND_FUNCTIONS "Action add_${COMMAND}(Program&);\n")
      string(APPEND COMMAND_ROWS "    {\"${COMMAND}\", add_${COMMAND}},\n")
    else()
      string(APPEND COMMAND_ROWS "    {\"${COMMAND}\", nullptr},\n")
    endif()
  endforeach()
  if(NOT ${OPTION})
    list(APPEND GIVEN_TESTS ${TESTS_OF_ALL_PARTS})
  endif()
  foreach(TEST IN LISTS GIVEN_TESTS)
    set(FOUND ${PROJECT_SOURCE_DIR}/${TEST})
    if(NOT ${OPTION})
      if(IS_DIRECTORY ${FOUND})
        file(GLOB FOUND CONFIGURE_DEPENDS ${FOUND}/*)
      endif()
      list(APPEND LEFT_OUT_TESTS ${FOUND})
    elseif(EXISTS ${FOUND}/tests.cmake)
      list(APPEND PART_TESTS ${FOUND}/tests.cmake)
    endif()
  endforeach()
endmacro()

# The lists are vectors, since an array cannot be empty.
macro(lunagrad_write_part_tables)
  set(PART_TABLES ${PROJECT_BINARY_DIR}/parts/parts.cpp)
  set(COMMAND_TABLE ${PROJECT_BINARY_DIR}/parts/commands.cpp)
  file(CONFIGURE OUTPUT ${PART_TABLES} @ONLY CONTENT "// Written by cmake/part.cmake.
#include \"script/parts/names.h\"
#include \"script/parts/parts.h\"

namespace lunagrad {

@PART_FUNCTIONS@
std::span<const PartField> part_fields() {
  static const std::vector<PartField> fields = {
@FIELD_ROWS@  };
  return fields;
}

const Parts& parts() {
  static const Parts all = [] {
    Parts made;
@PART_CALLS@    return made;
  }();
  return all;
}

}  // namespace lunagrad
")
  file(CONFIGURE OUTPUT ${COMMAND_TABLE} @ONLY CONTENT "// Written by cmake/part.cmake.
#include \"script/cli/part_commands.h\"

namespace lunagrad {

@COMMAND_FUNCTIONS@
std::span<const PartCommand> part_commands() {
  static const std::vector<PartCommand> commands = {
@COMMAND_ROWS@  };
  return commands;
}

}  // namespace lunagrad
")
endmacro()

# Compiles the sources of a folder as one source, a group: headers take most of the compile time of a small source. So names in
# unnamed namespaces are unique in a folder. Sanitizer builds have no groups: they find a source that lacks an include.
option(LUNAGRAD_GROUPS "compile the sources of each folder as one" ON)

# Groups the target's sources by folder. Kernels, in folders named cpu, are compiled for several SIMD targets, one source at a
# time. CMake also leaves out sources with options of their own.
function(group_sources TARGET)
  if(NOT LUNAGRAD_GROUPS OR LUNAGRAD_SANITIZE)
    return()
  endif()
  set_target_properties(${TARGET} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_target_property(SOURCES ${TARGET} SOURCES)
  foreach(SOURCE IN LISTS SOURCES)
    cmake_path(IS_PREFIX PROJECT_BINARY_DIR "${SOURCE}" GENERATED)
    cmake_path(GET SOURCE PARENT_PATH FOLDER)
    if(NOT GENERATED AND FOLDER MATCHES "^${PROJECT_SOURCE_DIR}/" AND NOT FOLDER MATCHES "/cpu(/|$)")
      string(REGEX REPLACE "^${PROJECT_SOURCE_DIR}/" "" GROUP ${FOLDER})
      string(REPLACE "/" "_" GROUP ${GROUP})
      set_source_files_properties(${SOURCE} PROPERTIES UNITY_GROUP ${GROUP})
    endif()
  endforeach()
endfunction()

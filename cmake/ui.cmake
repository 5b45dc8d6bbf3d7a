# The workbench window: draws snapshots of a session and sends commands to it. The panels are a library, so that hosts can
# show them and tests can link them.
pkg_check_modules(LUNAGRAD_IMGUI REQUIRED IMPORTED_TARGET imgui)
pkg_check_modules(LUNAGRAD_GLFW REQUIRED IMPORTED_TARGET glfw3)
pkg_check_modules(LUNAGRAD_FONTCONFIG REQUIRED IMPORTED_TARGET fontconfig)
pkg_check_modules(LUNAGRAD_FREETYPE REQUIRED IMPORTED_TARGET freetype2)
find_package(Vulkan REQUIRED)

file(GLOB_RECURSE UI_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/ui/*.cpp)
list(REMOVE_ITEM UI_SOURCES ${PROJECT_SOURCE_DIR}/ui/main.cpp)
add_library(lunagrad-ui STATIC ${UI_SOURCES})
# The shaders that draw textures (ui/window/texture_store.cpp), as SPIR-V words in headers.
find_program(LUNAGRAD_GLSLANG glslangValidator REQUIRED)
foreach(SHADER texture.vert texture.frag)
  string(REPLACE "." "_" NAME ${SHADER})
  set(HEADER ${PROJECT_BINARY_DIR}/ui/${SHADER}.h)
  add_custom_command(OUTPUT ${HEADER}
    COMMAND ${LUNAGRAD_GLSLANG} --quiet -V --vn ${NAME}_words -o ${HEADER} ${PROJECT_SOURCE_DIR}/ui/window/${SHADER}
    DEPENDS ${PROJECT_SOURCE_DIR}/ui/window/${SHADER} COMMENT "Compiling shader ${SHADER}" VERBATIM)
  target_sources(lunagrad-ui PRIVATE ${HEADER})
endforeach()
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/ui)
target_include_directories(lunagrad-ui PRIVATE ${PROJECT_BINARY_DIR}/ui)
lunagrad_precompile_headers(lunagrad-ui <imgui.h>)
lunagrad_group_sources(lunagrad-ui)
target_compile_options(lunagrad-ui PRIVATE ${LUNAGRAD_OPTIMIZE_OUTSIDE})
target_link_libraries(lunagrad-ui PUBLIC lunagrad-script lunagrad-runtime PkgConfig::LUNAGRAD_IMGUI Vulkan::Vulkan Threads::Threads
                      PRIVATE PkgConfig::LUNAGRAD_GLFW PkgConfig::LUNAGRAD_FONTCONFIG PkgConfig::LUNAGRAD_FREETYPE
                              $<BUILD_INTERFACE:nlohmann_json::nlohmann_json>)

if(LUNAGRAD_PROGRAMS)
  add_executable(lunagrad-workbench ${PROJECT_SOURCE_DIR}/ui/main.cpp)
  target_link_libraries(lunagrad-workbench PRIVATE lunagrad-ui)
  if(TARGET lunagrad-gpu)
    target_link_libraries(lunagrad-workbench PRIVATE lunagrad-gpu)
    target_compile_definitions(lunagrad-workbench PRIVATE LUNAGRAD_GPU)
  endif()
endif()

if(LUNAGRAD_TESTS)
  find_package(doctest REQUIRED)
  file(GLOB_RECURSE UI_TEST_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/ui/*.cpp)
  add_executable(lunagrad-ui-tests ${UI_TEST_SOURCES})
  target_link_libraries(lunagrad-ui-tests PRIVATE lunagrad-ui doctest::doctest)
  target_compile_options(lunagrad-ui-tests PRIVATE ${LUNAGRAD_OPTIMIZE_TESTS})
  lunagrad_precompile_headers(lunagrad-ui-tests <imgui.h> <doctest/doctest.h>)
  lunagrad_group_sources(lunagrad-ui-tests)
  set_source_files_properties(${PROJECT_SOURCE_DIR}/tests/ui/main.cpp PROPERTIES SKIP_PRECOMPILE_HEADERS ON)  # doctest's own code
  target_include_directories(lunagrad-ui-tests PRIVATE ${PROJECT_BINARY_DIR}/folders)
  if(LUNAGRAD_SANITIZE)  # without single-threaded tests that take seconds when they are not optimised
    add_test(NAME ui COMMAND lunagrad-ui-tests "-sfe=*test_code_editor*,*test_graph_speed*,*test_graph_layout*,*test_plot*,*ui/text/test_search*"
             "-tce=an invalid regular expression*")
  else()
    add_test(NAME ui COMMAND lunagrad-ui-tests)
  endif()
  include(${PROJECT_SOURCE_DIR}/tests/ui/drives/drives.cmake)
endif()

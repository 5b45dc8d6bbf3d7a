# The Vulkan backend: a shared library that contains volk and hides its symbols. GLSL is compiled to SPIR-V at build
# time.
find_path(LUNAGRAD_VOLK_INCLUDE volk.c REQUIRED)

set(SHADER_DIR ${PROJECT_BINARY_DIR}/shaders)
set(ELEMENTWISE_DEF ${PROJECT_SOURCE_DIR}/runtime/elementwise/elementwise.def)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ELEMENTWISE_DEF})

foreach(WRITTEN elementwise optimizers constants)
  add_executable(lunagrad-write-${WRITTEN} ${PROJECT_SOURCE_DIR}/gpu/generate/write_${WRITTEN}.cpp)
  target_include_directories(lunagrad-write-${WRITTEN} PRIVATE ${PROJECT_SOURCE_DIR})
endforeach()

# Generates the elementwise shaders from the rows of elementwise.def: one file for each row and computation type.
set(ELEMENTWISE_SHADERS)
file(STRINGS ${ELEMENTWISE_DEF} ROWS REGEX "^EW[123]\\(")
foreach(ROW IN LISTS ROWS)
  if(ROW MATCHES "^EW[123]\\(([a-z0-9_]+), .*, (float|number|any|integer), (same|bool), ([a-z_ |]+), ")
    set(NAME ${CMAKE_MATCH_1})
    set(FACTS " ${CMAKE_MATCH_4} ")
    if(NOT CMAKE_MATCH_2 STREQUAL "integer")
      list(APPEND ELEMENTWISE_SHADERS ${SHADER_DIR}/elementwise_${NAME}_f32.comp)
    endif()
    if(NOT CMAKE_MATCH_2 STREQUAL "float")
      list(APPEND ELEMENTWISE_SHADERS ${SHADER_DIR}/elementwise_${NAME}_i64.comp)
    endif()
    if(FACTS MATCHES "[ |]complex[ |]")
      list(APPEND ELEMENTWISE_SHADERS ${SHADER_DIR}/elementwise_${NAME}_c64.comp)
    endif()
  endif()
endforeach()
file(GLOB_RECURSE SHADER_INCLUDES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/gpu/ops/*.glsl)
set(ROW_TEXTS ${SHADER_DIR}/row_texts.h)
add_custom_command(OUTPUT ${ELEMENTWISE_SHADERS} ${ROW_TEXTS}
                   COMMAND lunagrad-write-elementwise ${SHADER_DIR} ${PROJECT_SOURCE_DIR}/gpu/ops/glsl
                   DEPENDS lunagrad-write-elementwise ${SHADER_INCLUDES} COMMENT "Writing the elementwise shaders" VERBATIM)

# Generates the optimizers' shaders from the records of optimizers.def in the same way.
set(OPTIMIZERS_DEF ${PROJECT_SOURCE_DIR}/runtime/optimizer/optimizers.def)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${OPTIMIZERS_DEF})
set(OPTIMIZER_SHADERS)
file(STRINGS ${OPTIMIZERS_DEF} ROWS REGEX "^OPTIMIZER\\(")
foreach(ROW IN LISTS ROWS)
  string(REGEX REPLACE "^OPTIMIZER\\(([a-z0-9_]+),.*" "\\1" ROW ${ROW})
  list(APPEND OPTIMIZER_SHADERS ${SHADER_DIR}/optimizer_${ROW}.comp)
endforeach()
add_custom_command(OUTPUT ${OPTIMIZER_SHADERS} COMMAND lunagrad-write-optimizers ${SHADER_DIR}
                   DEPENDS lunagrad-write-optimizers COMMENT "Writing the optimizers' shaders" VERBATIM)

# The specialization constants of the shaders become C++ structs, so that GLSL and C++ share names and C++ code repeats
# no constant ids.
file(GLOB_RECURSE SHADERS CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/gpu/ops/*.comp)
set(CONSTANTS ${SHADER_DIR}/constants.h)
add_custom_command(OUTPUT ${CONSTANTS} COMMAND lunagrad-write-constants ${PROJECT_SOURCE_DIR}/gpu/ops ${CONSTANTS}
                   DEPENDS lunagrad-write-constants ${SHADERS} ${SHADER_INCLUDES} COMMENT "Writing the constants of the shaders" VERBATIM)
add_custom_target(lunagrad-shader-constants DEPENDS ${CONSTANTS} ${ROW_TEXTS})

# glslang compiles the kernels that scripts define. Which static libraries exist depends on its version.
find_path(LUNAGRAD_GLSLANG_INCLUDE glslang/Include/glslang_c_interface.h REQUIRED)
set(GLSLANG_LIBRARIES)
foreach(NAME SPIRV glslang MachineIndependent OSDependent GenericCodeGen OGLCompiler glslang-default-resource-limits
        SPIRV-Tools-opt SPIRV-Tools)
  find_library(LUNAGRAD_LIB_${NAME} ${NAME})
  mark_as_advanced(LUNAGRAD_LIB_${NAME})
  if(LUNAGRAD_LIB_${NAME})
    list(APPEND GLSLANG_LIBRARIES ${LUNAGRAD_LIB_${NAME}})
  endif()
endforeach()

# All shaders as one source, which also has the table of the modules by name.
add_executable(lunagrad-compile-shaders ${PROJECT_SOURCE_DIR}/gpu/generate/compile_shaders.cpp)
target_include_directories(lunagrad-compile-shaders PRIVATE ${PROJECT_SOURCE_DIR} ${LUNAGRAD_GLSLANG_INCLUDE})
target_link_libraries(lunagrad-compile-shaders PRIVATE ${GLSLANG_LIBRARIES} ZLIB::ZLIB Threads::Threads)
set(SHADER_TABLE ${SHADER_DIR}/table.cpp)
add_custom_command(OUTPUT ${SHADER_TABLE}
  COMMAND lunagrad-compile-shaders ${SHADER_TABLE} 2 ${PROJECT_SOURCE_DIR}/gpu/ops/glsl ${PROJECT_SOURCE_DIR}/gpu/ops
          ${SHADERS} ${ELEMENTWISE_SHADERS} ${OPTIMIZER_SHADERS}
  DEPENDS lunagrad-compile-shaders ${SHADERS} ${ELEMENTWISE_SHADERS} ${OPTIMIZER_SHADERS} ${SHADER_INCLUDES}
  COMMENT "Compiling the shaders" VERBATIM)

# An object library of its own, so that shaders and engine compile in parallel.
add_library(lunagrad-shaders OBJECT ${SHADER_TABLE})
add_dependencies(lunagrad-shaders lunagrad-shader-constants)
target_include_directories(lunagrad-shaders PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR} ${LUNAGRAD_VOLK_INCLUDE})
target_compile_definitions(lunagrad-shaders PRIVATE VK_NO_PROTOTYPES)
# The places of the constants of every shader are found at compile time.
target_compile_options(lunagrad-shaders PRIVATE $<$<CXX_COMPILER_ID:Clang>:-fconstexpr-steps=100000000>)

file(GLOB_RECURSE GPU_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/gpu/*.cpp)
list(FILTER GPU_SOURCES EXCLUDE REGEX "/gpu/generate/")
# The tests link these objects, since they use symbols that the shared library hides.
add_library(lunagrad-gpu-objects OBJECT ${GPU_SOURCES})
add_dependencies(lunagrad-gpu-objects lunagrad-shader-constants)
set_target_properties(lunagrad-gpu-objects lunagrad-shaders PROPERTIES C_VISIBILITY_PRESET hidden
                      CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
target_include_directories(lunagrad-gpu-objects PUBLIC ${LUNAGRAD_VOLK_INCLUDE} ${PROJECT_BINARY_DIR} PRIVATE ${LUNAGRAD_GLSLANG_INCLUDE})
lunagrad_precompile_headers(lunagrad-gpu-objects <volk.h>)
lunagrad_group_sources(lunagrad-gpu-objects)
target_compile_options(lunagrad-gpu-objects PRIVATE ${LUNAGRAD_OPTIMIZE_OUTSIDE})
target_compile_definitions(lunagrad-gpu-objects PUBLIC VK_NO_PROTOTYPES)
target_link_libraries(lunagrad-gpu-objects PUBLIC lunagrad-runtime ${CMAKE_DL_LIBS} ${GLSLANG_LIBRARIES} ZLIB::ZLIB)
add_library(lunagrad-gpu SHARED $<TARGET_OBJECTS:lunagrad-gpu-objects> $<TARGET_OBJECTS:lunagrad-shaders>)
target_link_libraries(lunagrad-gpu PUBLIC lunagrad-runtime PRIVATE ${CMAKE_DL_LIBS} ${GLSLANG_LIBRARIES} ZLIB::ZLIB)
target_link_options(lunagrad-gpu PRIVATE -Wl,-z,defs -Wl,--exclude-libs,ALL)

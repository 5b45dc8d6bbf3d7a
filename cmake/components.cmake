# What a host links: a component NAME is the target lunagrad::NAME, here, in an install and in a project around this one.
# LUNAGRAD_COMPONENTS has those that are built, and LUNAGRAD_HEADERS_NAME the headers that a host may include; these include no
# others.
set(LUNAGRAD_COMPONENTS runtime)
set(LUNAGRAD_HEADERS_runtime runtime/ops.h)
foreach(NAME context device dtype error op random ref shape small storage tensor tensor_fwd trace version)
  list(APPEND LUNAGRAD_HEADERS_runtime runtime/core/${NAME}.h)
endforeach()
list(APPEND LUNAGRAD_HEADERS_runtime runtime/elementwise/declare.h runtime/elementwise/elementwise.def
     runtime/statistics/statistics.h runtime/statistics/summary.h)
file(GLOB TAPE_HEADERS CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/runtime/tape/*.h)
list(APPEND LUNAGRAD_HEADERS_runtime ${TAPE_HEADERS})
foreach(NAME array_info named_tensors npy npz pt safetensors)
  list(APPEND LUNAGRAD_HEADERS_runtime runtime/io/${NAME}.h)
endforeach()
if(TARGET lunagrad-script)
  list(APPEND LUNAGRAD_COMPONENTS script)
  file(GLOB LUNAGRAD_HEADERS_script CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/script/session*.h
       ${PROJECT_SOURCE_DIR}/script/view/*.h)
  list(FILTER LUNAGRAD_HEADERS_script EXCLUDE REGEX "/(json|tape_json|smoother)[.]h$")  # for Lunagrad's own programs
endif()
if(TARGET lunagrad-gpu)
  list(APPEND LUNAGRAD_COMPONENTS gpu)
  set(LUNAGRAD_HEADERS_gpu gpu/gpu.h gpu/device/device_buffer.h)
endif()
if(TARGET lunagrad-ui)
  list(APPEND LUNAGRAD_COMPONENTS ui)
  set(LUNAGRAD_HEADERS_ui ui/embed.h ui/base/description.h ui/base/stopwatch.h)
  foreach(NAME display_input input_queue presenter theme window)
    list(APPEND LUNAGRAD_HEADERS_ui ui/window/${NAME}.h)
  endforeach()
endif()
if(TARGET lunagrad-c)
  list(APPEND LUNAGRAD_COMPONENTS c)
  set(LUNAGRAD_HEADERS_c)  # lunagrad.h alone, which is installed beside the folder of the other headers
endif()

# A host's sources are compiled as C++20, which the headers of all components but c need.
target_compile_features(lunagrad-runtime PUBLIC cxx_std_20)
foreach(COMPONENT IN LISTS LUNAGRAD_COMPONENTS)
  add_library(lunagrad::${COMPONENT} ALIAS lunagrad-${COMPONENT})
endforeach()
# In an install the headers are below include/lunagrad, and a host writes <lunagrad/runtime/ops.h>. So it may in a project
# around this one.
if(NOT PROJECT_IS_TOP_LEVEL)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/include/lunagrad)
  foreach(COMPONENT IN LISTS LUNAGRAD_COMPONENTS)
    if(COMPONENT STREQUAL "c")
      continue()
    endif()
    file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${COMPONENT} ${PROJECT_BINARY_DIR}/include/lunagrad/${COMPONENT} SYMBOLIC)
  endforeach()
  target_include_directories(lunagrad-runtime INTERFACE $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>)
endif()

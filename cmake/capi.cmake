# The C library: liblunagrad.so.0 with the engine in it, and the Vulkan backend where it is built. It exports the functions of
# capi/lunagrad.h alone, so a host may have other versions of everything else that is in it.
file(GLOB CAPI_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/capi/*.cpp)
set(CAPI_EXPORTS ${PROJECT_SOURCE_DIR}/capi/exports.map)
# The order of the arguments of an op, which scripts and C hosts share.
add_library(lunagrad-c SHARED ${CAPI_SOURCES} ${PROJECT_SOURCE_DIR}/script/meta/signature.cpp
            $<TARGET_OBJECTS:lunagrad-runtime>)
set_target_properties(lunagrad-c PROPERTIES OUTPUT_NAME lunagrad VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
                      VISIBILITY_INLINES_HIDDEN ON LINK_DEPENDS ${CAPI_EXPORTS})
target_include_directories(lunagrad-c PRIVATE ${PROJECT_SOURCE_DIR} INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/capi>)
target_compile_definitions(lunagrad-c PRIVATE LG_BUILD $<TARGET_PROPERTY:lunagrad-runtime,INTERFACE_COMPILE_DEFINITIONS>)
target_compile_features(lunagrad-c PRIVATE cxx_std_20)
lunagrad_precompile_headers(lunagrad-c)
# The threads of the engine and what it registers outlive a dlclose().
target_link_options(lunagrad-c PRIVATE -Wl,--version-script=${CAPI_EXPORTS} -Wl,-Bsymbolic -Wl,-z,defs -Wl,-z,nodelete
                    -Wl,--exclude-libs,ALL)
target_link_libraries(lunagrad-c PRIVATE PkgConfig::LUNAGRAD_OPENBLAS PkgConfig::LUNAGRAD_HIGHWAY ${LUNAGRAD_SLEEF} Threads::Threads
                      ZLIB::ZLIB PkgConfig::LUNAGRAD_LIBZIP PkgConfig::LUNAGRAD_LIBPNG ${CMAKE_DL_LIBS})
if(TARGET lunagrad-gpu)
  target_sources(lunagrad-c PRIVATE $<TARGET_OBJECTS:lunagrad-gpu-objects> $<TARGET_OBJECTS:lunagrad-shaders>)
  target_compile_definitions(lunagrad-c PRIVATE LUNAGRAD_HAS_GPU)
  target_link_libraries(lunagrad-c PRIVATE ${GLSLANG_LIBRARIES})
endif()

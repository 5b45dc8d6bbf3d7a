# The ranks of lg.distributed communicate through MPI where it is installed. The MPI code is a library of its own,
# loaded only when ranks were started, so that a program also runs without MPI. It needs the program's runtime as a shared
# library.
if(LUNAGRAD_MPI AND LUNAGRAD_SHARED AND NOT CMAKE_CROSSCOMPILING)
  find_package(MPI COMPONENTS C)
endif()
if(MPI_C_FOUND)
  file(GLOB MPI_SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.cpp)
  add_library(lunagrad-mpi MODULE ${MPI_SOURCES})
  set_target_properties(lunagrad-mpi PROPERTIES CXX_VISIBILITY_PRESET hidden)
  target_compile_options(lunagrad-mpi PRIVATE ${LUNAGRAD_OPTIMIZE_OUTSIDE})
  target_link_libraries(lunagrad-mpi PRIVATE lunagrad-runtime MPI::MPI_C)
endif()

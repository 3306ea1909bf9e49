# The component that reads Parquet: a shared library on Arrow beside the programs, which load it at run time. It is part
# of the build where `make parquet` has put Arrow, and no program is linked with it: all else is built without it.
# What both sides must have compiled alike, as a text that both hold: a component of another build is refused.
set(interface "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
foreach(header base/error.h data/sources/lines.h data/sources/parquet.h)
  file(SHA256 ${CMAKE_SOURCE_DIR}/tethys/${header} hash)
  string(APPEND interface " ${hash}")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tethys/${header})
endforeach()
string(SHA256 interface "${interface}")
set_source_files_properties(${CMAKE_SOURCE_DIR}/tethys/data/sources/parquet.cpp
  ${CMAKE_SOURCE_DIR}/tethys/parquet_reader/component.cpp
  PROPERTIES COMPILE_DEFINITIONS TETHYS_PARQUET_INTERFACE="${interface}")

# `name` is the folder of the component's sources.
function(tethys_parquet_component name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;USES;PROGRAMS" ${ARGN})
  set(arrow ${TETHYS_DEPS}/arrow/pyarrow)
  file(GLOB libraries CONFIGURE_DEPENDS ${arrow}/libarrow.so.* ${arrow}/libparquet.so.*)
  if(NOT libraries)
    file(REMOVE ${CMAKE_BINARY_DIR}/tethys_parquet.so)
    return()
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tethys/${name}/*.cpp)
  foreach(source base/number.cpp base/shown.cpp)  # of what is no header in base/error.h
    list(APPEND sources ${CMAKE_SOURCE_DIR}/tethys/${source})
  endforeach()
  add_library(tethys_parquet MODULE ${sources})
  foreach(folder ${name} ${ARG_DEPENDS})
    file(MAKE_DIRECTORY ${CMAKE_SOURCE_DIR}/build/include/${folder})
    file(CREATE_LINK ${CMAKE_SOURCE_DIR}/tethys/${folder} ${CMAKE_SOURCE_DIR}/build/include/${folder}/${folder} SYMBOLIC)
    target_include_directories(tethys_parquet PRIVATE ${CMAKE_SOURCE_DIR}/build/include/${folder})
  endforeach()
  target_include_directories(tethys_parquet SYSTEM PRIVATE ${arrow}/include)
  target_link_libraries(tethys_parquet PRIVATE ${libraries} ${ARG_USES})
  target_link_options(tethys_parquet PRIVATE LINKER:--no-undefined)
  file(RELATIVE_PATH from_build ${CMAKE_BINARY_DIR} ${arrow})  # so that a tree may be moved
  set_target_properties(tethys_parquet PROPERTIES PREFIX "" BUILD_RPATH "$ORIGIN/${from_build}"
    CXX_VISIBILITY_PRESET hidden LINK_DEPENDS ${CMAKE_SOURCE_DIR}/cmake/seal.py)
  add_custom_command(TARGET tethys_parquet POST_BUILD
    COMMAND python3 ${CMAKE_SOURCE_DIR}/cmake/seal.py $<TARGET_FILE:tethys_parquet>)
  foreach(program ${ARG_PROGRAMS})
    add_dependencies(${program} tethys_parquet)
  endforeach()
  tethys_add_test(parquet_peer_test quick /usr/bin/python3 tests/golden/parquet/compare.py $<TARGET_FILE:tethys>)
endfunction()

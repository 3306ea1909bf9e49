# Compiler helpers that make a two-core machine bearable; each is used where it is installed.
find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()
find_program(MOLD mold)
if(MOLD)
  add_link_options(-fuse-ld=mold)
endif()

# What serves malloc; a sanitizer brings its own.
if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  set(TETHYS_MALLOC jemalloc)
endif()

# Where `make setup` puts the plugins and headers that it downloads.
set(TETHYS_DEPS ${CMAKE_SOURCE_DIR}/.deps CACHE PATH "third-party downloads of make setup")
if(NOT EXISTS ${TETHYS_DEPS}/include/xla/pjrt/c/pjrt_c_api.h)
  message(FATAL_ERROR "${TETHYS_DEPS} does not hold the plugins and headers: run `make setup` first")
endif()

macro(tethys_package name)
  find_package(${name} QUIET)
  if(NOT ${name}_FOUND)
    message(FATAL_ERROR "the library ${name} is not installed: run `make setup` first")
  endif()
endmacro()

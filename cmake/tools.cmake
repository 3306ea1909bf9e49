# Compiler helpers that make a two-core machine bearable; each is used where it is installed.
find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()
find_program(MOLD mold)
if(MOLD)
  add_link_options(-fuse-ld=mold)
endif()

# Where `make setup` puts the plugins and headers that it downloads.
set(TETHYS_DEPS ${CMAKE_SOURCE_DIR}/.deps CACHE PATH "third-party downloads of make setup")

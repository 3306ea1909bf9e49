# The version and the commit that a program is of. Each build asks git; the one file that holds the answer is written, and
# the program linked anew, only if it is another one. Run as a script it writes that file to OUTPUT.
if(CMAKE_SCRIPT_MODE_FILE)
  cmake_minimum_required(VERSION 3.25)
  execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=*
                  OUTPUT_VARIABLE commit ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT commit)
    set(commit unknown)
  endif()
  file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#include \"tools/version.h\"

namespace tethys {

const char* const kVersion = \"${VERSION}, commit ${commit}\";

}  // namespace tethys
" @ONLY)
  return()
endif()

function(tethys_version program)
  set(output ${CMAKE_BINARY_DIR}/version.cpp)
  add_custom_target(version BYPRODUCTS ${output}
                    COMMAND ${CMAKE_COMMAND} -D SOURCE=${CMAKE_SOURCE_DIR} -D VERSION=${PROJECT_VERSION}
                            -D OUTPUT=${output} -P ${CMAKE_CURRENT_FUNCTION_LIST_FILE})
  add_dependencies(${program} version)
  target_sources(${program} PRIVATE ${output})
endfunction()

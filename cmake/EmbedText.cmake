# SPDX-License-Identifier: MIT
# openpla_literal(OUT TEXT): sets OUT to a C string literal of TEXT, with one source line per line of TEXT.
function(openpla_literal out text)
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  string(REPLACE "\r" "" text "${text}")
  string(REPLACE "\n" "\\n\"\n     \"" text "${text}")
  set(${out} "\"${text}\"" PARENT_SCOPE)
endfunction()

# openpla_text_literal(OUT FILE): does the same with the contents of FILE. A change of FILE reconfigures the build.
function(openpla_text_literal out file)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${file})
  file(READ ${CMAKE_CURRENT_SOURCE_DIR}/${file} text)
  openpla_literal(literal "${text}")
  set(${out} "${literal}" PARENT_SCOPE)
endfunction()

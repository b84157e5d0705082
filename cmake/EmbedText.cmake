# SPDX-License-Identifier: MIT
# openpla_literal(OUT TEXT): converts a text to a C string literal, with one source line for each of its lines.
function(openpla_literal out text)
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  string(REPLACE "\r" "" text "${text}")
  string(REPLACE "\n" "\\n\"\n     \"" text "${text}")
  set(${out} "\"${text}\"" PARENT_SCOPE)
endfunction()

# openpla_text_literal(OUT FILE): the same for the text of a file. If the file changes, the build is configured again.
function(openpla_text_literal out file)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${file})
  file(READ ${CMAKE_CURRENT_SOURCE_DIR}/${file} text)
  openpla_literal(literal "${text}")
  set(${out} "${literal}" PARENT_SCOPE)
endfunction()

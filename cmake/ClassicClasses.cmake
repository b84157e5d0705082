# SPDX-License-Identifier: MIT
# openpla_classic_classes(OUT FILE...): writes a C file that contains the MOF files as one string. The program needs no
# MOF file beside it, so none can be missing or modified.
include(EmbedText)

function(openpla_classic_classes out)
  set(lines "")
  foreach(file ${ARGN})
    openpla_text_literal(mof ${file})
    string(APPEND lines "    ${mof}\n")
  endforeach()
  file(CONFIGURE OUTPUT ${out} @ONLY CONTENT "/* SPDX-License-Identifier: MIT */
/* Made by cmake/ClassicClasses.cmake. */
#include \"engine/etw/decode/mof/mof_text.h\"

const char classic_classes[] =
@lines@;
const size_t classic_classes_size = sizeof classic_classes - 1;
")
endfunction()

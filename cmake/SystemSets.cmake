# SPDX-License-Identifier: MIT
# openpla_system_sets(OUT NAME FILE...): writes a C file with the definitions of the System sets. Each FILE is the set
# XML of the preceding NAME. The program needs none of the files beside it.
include(EmbedText)

function(openpla_system_sets out)
  set(rows "")
  while(ARGN)
    list(POP_FRONT ARGN name file)
    openpla_text_literal(xml ${file})
    string(APPEND rows "    {\"${name}\",\n     ${xml}},\n")
  endwhile()
  file(CONFIGURE OUTPUT ${out} @ONLY CONTENT "/* SPDX-License-Identifier: MIT */
/* Made by cmake/SystemSets.cmake. */
#include \"engine/pla/store.h\"

#include <stddef.h>

const struct system_set system_sets[] = {
@rows@    {NULL, NULL},
};
")
endfunction()

# SPDX-License-Identifier: MIT
# openpla_report_schemas(OUT TABLE FILE...): writes a C file with the built-in report schemas or rules, each under its
# file name. The program needs none of the files beside it.
include(EmbedText)

function(openpla_report_schemas out table)
  set(rows "")
  foreach(file ${ARGN})
    openpla_text_literal(xml ${file})
    get_filename_component(name ${file} NAME)
    string(APPEND rows "    {\"${name}\",\n     ${xml}},\n")
  endforeach()
  file(CONFIGURE OUTPUT ${out} @ONLY CONTENT "/* SPDX-License-Identifier: MIT */
/* Made by cmake/ReportSchemas.cmake. */
#include \"engine/report/report_schema.h\"

const struct shipped_schema ${table}[] = {
@rows@    {NULL, NULL},
};
")
endfunction()

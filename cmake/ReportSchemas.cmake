# SPDX-License-Identifier: MIT
# openpla_report_schemas(OUT TABLE FILE...): a C file with the report schemas, or the rules, that the program brings, each
# under the name of its file, so that none can be missing beside the program.
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

# SPDX-License-Identifier: MIT
# openpla_api_trace_texts(OUT): writes a C file with the API tracing prototypes and manifest, read from the caller's
# api_trace/.
include(EmbedText)

function(openpla_api_trace_texts out)
  openpla_text_literal(signatures api_trace/api_signatures.txt)
  openpla_text_literal(manifest api_trace/api_trace.man)
  file(CONFIGURE OUTPUT ${out} @ONLY CONTENT "/* SPDX-License-Identifier: MIT */
/* Made by cmake/ApiTrace.cmake. */
#include <stddef.h>

extern const char api_signatures_text[], api_trace_manifest[];
extern const size_t api_signatures_size, api_trace_manifest_size;
const char api_signatures_text[] =
    @signatures@;
const size_t api_signatures_size = sizeof api_signatures_text - 1;
const char api_trace_manifest[] =
    @manifest@;
const size_t api_trace_manifest_size = sizeof api_trace_manifest - 1;
")
endfunction()

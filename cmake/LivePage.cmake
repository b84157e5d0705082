# SPDX-License-Identifier: MIT
# openpla_live_page(OUT FOLDER): writes a C file with the page of openpla live, its style sheet and script, and the
# chart library (cmake/PageSheets.cmake). Without the library the page shows only values.
include(PageSheets)

function(openpla_live_page out folder)
  foreach(file live.html live.css live.js)
    set(path ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/${file})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
    string(REPLACE "." "_" name ${file})
    file(READ ${path} ${name})
  endforeach()
  file(READ ${PROJECT_SOURCE_DIR}/engine/report/page/sheets/dygraphs.txt licence)
  _read_library(library)
  set(credit "")
  if(library)
    set(credit " Charts by dygraphs (MIT licence, github.com/danvk/dygraphs).")
    set(library "/* ${licence}*/\n${library}")
  endif()
  string(REPLACE "@LIBRARY@" "${credit}" live_html "${live_html}")
  openpla_literal(html_literal "${live_html}")
  openpla_literal(css_literal "${live_css}")
  openpla_literal(js_literal "${live_js}")
  openpla_literal(library_literal "${library}")
  file(CONFIGURE OUTPUT ${out} @ONLY CONTENT "/* SPDX-License-Identifier: MIT */
/* Made by cmake/LivePage.cmake. */
#include \"cli/live/live_http.h\"

const char live_page_html[] =
     @html_literal@;
const char live_page_css[] =
     @css_literal@;
const char live_page_js[] =
     @js_literal@;
const char live_library_js[] =
     @library_literal@;
")
endfunction()

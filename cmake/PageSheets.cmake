# SPDX-License-Identifier: MIT
# openpla_page_sheets(OUT FOLDER): writes a C file with the XSLT style sheets of report pages and pictures. Each sheet
# is complete: the CSS, the script and the shared templates are inserted, and the page's Content-Security-Policy
# contains the hashes of the CSS and the script. Interactive charts need dygraphs (MIT), from Debian's package
# libjs-dygraphs; without it pages have only SVG charts.
include(EmbedText)
set(OPENPLA_DYGRAPHS "" CACHE FILEPATH "dygraph.min.js of dygraphs 2; default: that of Debian's libjs-dygraphs")

# The file must begin with the license comment of dygraphs 2 and must not contain the end of a script or the start of a
# comment in HTML.
function(_read_library out)
  set(path ${OPENPLA_DYGRAPHS})
  if(NOT path AND EXISTS /usr/share/javascript/dygraphs/dygraph.min.js)
    set(path /usr/share/javascript/dygraphs/dygraph.min.js)
  endif()
  set(text "")
  if(path)
    file(READ ${path} text)
    string(REGEX REPLACE "//# sourceMappingURL=[^\n]*" "" text "${text}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
    if(NOT text MATCHES "^/\\*! @license https://github.com/danvk/dygraphs/blob/v2[^\n]*MIT" OR text MATCHES "</script|<!--")
      message(FATAL_ERROR "'${path}' is not dygraphs 2: install Debian's libjs-dygraphs, or set OPENPLA_DYGRAPHS")
    endif()
  else()
    message(WARNING "dygraphs is missing: charts of report pages will not be interactive (install libjs-dygraphs)")
  endif()
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

# Returns the base64 SHA-256 hash of a text, as Content-Security-Policy expects it: the 64 hexadecimal digits and 2
# zeros are encoded with 6 bits per character.
function(_policy_hash out text)
  set(letters "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
  string(SHA256 hex "${text}")
  string(APPEND hex "00")
  set(all "")
  foreach(at RANGE 0 63 3)
    string(SUBSTRING "${hex}" ${at} 3 three)
    math(EXPR high "0x${three} >> 6")
    math(EXPR low "0x${three} & 63")
    string(SUBSTRING "${letters}" ${high} 1 first)
    string(SUBSTRING "${letters}" ${low} 1 second)
    string(APPEND all "${first}${second}")
  endforeach()
  string(SUBSTRING "${all}" 0 43 all)
  set(${out} "${all}=" PARENT_SCOPE)
endfunction()

function(_as_xml out text)
  string(REPLACE "&" "&amp;" text "${text}")
  string(REPLACE "<" "&lt;" text "${text}")
  string(REPLACE ">" "&gt;" text "${text}")
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

function(openpla_page_sheets out folder)
  foreach(file page.xsl plot.xsl chart.xsl page.css lines.css page.js charts.js dygraphs.txt)
    set(path ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/${file})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
    string(REPLACE "." "_" name ${file})
    file(READ ${path} ${name})
    string(REPLACE "\r" "" ${name} "${${name}}")
  endforeach()
  set(style "${lines_css}${page_css}")
  _read_library(library)
  set(script "${page_js}")
  set(credit "")
  if(library)
    set(script "/* ${dygraphs_txt}*/\n${library}\n${page_js}${charts_js}")
    set(credit " Interactive charts by dygraphs (MIT licence, github.com/danvk/dygraphs).")
  endif()
  _policy_hash(style_hash "${style}")
  _policy_hash(script_hash "${script}")
  _as_xml(style "${style}")
  _as_xml(script "${script}")
  _as_xml(lines "${lines_css}")
  foreach(sheet page plot)
    set(text "${${sheet}_xsl}")
    string(REPLACE "@CHART@" "${chart_xsl}" text "${text}")
    string(REPLACE "@STYLE@" "${style}" text "${text}")
    string(REPLACE "@LINES@" "${lines}" text "${text}")
    string(REPLACE "@SCRIPT@" "${script}" text "${text}")
    string(REPLACE "@LIBRARY@" "${credit}" text "${text}")
    string(REPLACE "@STYLE_HASH@" "${style_hash}" text "${text}")
    string(REPLACE "@SCRIPT_HASH@" "${script_hash}" text "${text}")
    openpla_literal(${sheet}_literal "${text}")
  endforeach()
  file(CONFIGURE OUTPUT ${out} @ONLY CONTENT "/* SPDX-License-Identifier: MIT */
/* Made by cmake/PageSheets.cmake. */
#include \"engine/report/page/page_parts.h\"

const char page_sheet_html[] =
     @page_literal@;
const char page_sheet_svg[] =
     @plot_literal@;
")
endfunction()

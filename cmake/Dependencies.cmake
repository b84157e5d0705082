# SPDX-License-Identifier: MIT
# Defines LibXml2::LibXml2, LibXslt::LibXslt, LibXslt::LibExslt and cmocka::cmocka. They are the system's libraries if
# the target has them; otherwise static libraries built from Debian's sources. ZLIB::ZLIB is always the system's library
# (static on Windows).
include(ExternalProject)
set(OPENPLA_LIBRARIES AUTO CACHE STRING "SYSTEM, BUNDLED, or AUTO: the system's if found, else bundled")
set_property(CACHE OPENPLA_LIBRARIES PROPERTY STRINGS AUTO SYSTEM BUNDLED)
set(OPENPLA_SOURCES_DIR ${CMAKE_SOURCE_DIR}/third_party CACHE PATH "Folder of Debian's unpacked sources; fetched ones are unpacked there")
set(_inst ${CMAKE_BINARY_DIR}/_deps/inst)
set(_required QUIET)
if(OPENPLA_LIBRARIES STREQUAL SYSTEM)
  set(_required REQUIRED)
endif()

set(_common -DCMAKE_TOOLCHAIN_FILE=${CMAKE_TOOLCHAIN_FILE} -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=${_inst}
  -DCMAKE_INSTALL_LIBDIR=lib -DBUILD_SHARED_LIBS=OFF --no-warn-unused-cli)
# libxml2 uses Windows' threads on Windows and pthreads elsewhere.
set(_threads)
if(WIN32)
  set(_threads -DHAVE_PTHREAD_H=0 -DCMAKE_HAVE_PTHREAD_H=0)
endif()
# Without these definitions our DLL would export libxml2's functions.
set(_xml_flags "-DLIBXML_STATIC -DLIBXML_STATIC_FOR_DLL -DLIBXSLT_STATIC -DLIBEXSLT_STATIC -ffile-prefix-map=${CMAKE_SOURCE_DIR}=.")

function(_fetch)
  execute_process(COMMAND sh ${CMAKE_SOURCE_DIR}/cmake/fetch-sources.sh ${OPENPLA_SOURCES_DIR} ${ARGN}
    COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(_off out prefix)
  set(l)
  foreach(o ${ARGN})
    list(APPEND l -D${prefix}_WITH_${o}=OFF)
  endforeach()
  set(${out} ${l} PARENT_SCOPE)
endfunction()

if(NOT OPENPLA_LIBRARIES STREQUAL BUNDLED)
  find_package(LibXml2 2.9.10 ${_required})
  find_package(LibXslt 1.1.33 ${_required})
endif()
if(NOT (LibXml2_FOUND AND LibXslt_FOUND))
  message(STATUS "libxml2 and libxslt: built from Debian's sources")
  _fetch(libxml2 libxslt)
  file(MAKE_DIRECTORY ${_inst}/include/libxml2)
  set(_xml ${_common} "-DCMAKE_C_FLAGS=${_xml_flags}" ${_threads})
  _off(_xml2_off LIBXML2 ICONV ICU LZMA ZLIB PYTHON PROGRAMS TESTS HTTP FTP CATALOG DOCB DEBUG LEGACY MODULES C14N
    SCHEMATRON XINCLUDE MEM_DEBUG RUN_DEBUG)
  _off(_xslt_off LIBXSLT DEBUGGER CRYPTO MODULES PROFILER PYTHON TESTS MEM_DEBUG XSLT_DEBUG)
  ExternalProject_Add(ep_libxml2 SOURCE_DIR ${OPENPLA_SOURCES_DIR}/libxml2 PREFIX ${CMAKE_BINARY_DIR}/_deps/libxml2
    CMAKE_ARGS ${_xml} ${_xml2_off}
    BUILD_COMMAND ${CMAKE_COMMAND} --build <BINARY_DIR> --target LibXml2
    INSTALL_COMMAND ${CMAKE_COMMAND} --install <BINARY_DIR> --component runtime
    COMMAND ${CMAKE_COMMAND} --install <BINARY_DIR> --component development
    BUILD_BYPRODUCTS ${_inst}/lib/libxml2.a)
  ExternalProject_Add(ep_libxslt SOURCE_DIR ${OPENPLA_SOURCES_DIR}/libxslt PREFIX ${CMAKE_BINARY_DIR}/_deps/libxslt
    DEPENDS ep_libxml2
    CMAKE_ARGS ${_xml} ${_xslt_off} -DCMAKE_FIND_ROOT_PATH=${_inst}
    BUILD_COMMAND ${CMAKE_COMMAND} --build <BINARY_DIR> --target LibXslt LibExslt
    INSTALL_COMMAND ${CMAKE_COMMAND} --install <BINARY_DIR> --component runtime
    COMMAND ${CMAKE_COMMAND} --install <BINARY_DIR> --component development
    BUILD_BYPRODUCTS ${_inst}/lib/libxslt.a ${_inst}/lib/libexslt.a)
  function(_imported target file project)
    cmake_parse_arguments(a "" "" "INCLUDE;DEFINE;LINK" ${ARGN})
    add_library(${target} STATIC IMPORTED GLOBAL)
    set_target_properties(${target} PROPERTIES IMPORTED_LOCATION ${_inst}/lib/${file}
      INTERFACE_INCLUDE_DIRECTORIES "${a_INCLUDE}" INTERFACE_COMPILE_DEFINITIONS "${a_DEFINE}"
      INTERFACE_LINK_LIBRARIES "${a_LINK}")
    add_dependencies(${target} ${project})
  endfunction()
  _imported(LibXml2::LibXml2 libxml2.a ep_libxml2 INCLUDE ${_inst}/include/libxml2
    DEFINE LIBXML_STATIC LIBXML_STATIC_FOR_DLL LINK $<IF:$<PLATFORM_ID:Windows>,ws2_32,m>)
  _imported(LibXslt::LibXslt libxslt.a ep_libxslt INCLUDE ${_inst}/include DEFINE LIBXSLT_STATIC LINK LibXml2::LibXml2)
  _imported(LibXslt::LibExslt libexslt.a ep_libxslt DEFINE LIBEXSLT_STATIC LINK LibXslt::LibXslt)
  set(OPENPLA_BUNDLED_XML ON)
endif()

# Avoids libz.dll.a, which would make our programs depend on zlib1.dll.
if(WIN32 OR OPENPLA_STATIC)
  set(ZLIB_USE_STATIC_LIBS ON)
endif()
find_package(ZLIB)
if(NOT ZLIB_FOUND)
  message(FATAL_ERROR "zlib is missing: install zlib1g-dev, for MinGW-w64 libz-mingw-w64-dev (Debian) or "
    "mingw-w64-x86_64-zlib (MSYS2)")
endif()

if(BUILD_TESTING)
  find_path(CMOCKA_INCLUDE cmocka.h)
  find_library(CMOCKA_LIBRARY cmocka)
  if(CMOCKA_INCLUDE AND CMOCKA_LIBRARY AND NOT OPENPLA_LIBRARIES STREQUAL BUNDLED)
    add_library(cmocka::cmocka UNKNOWN IMPORTED GLOBAL)
    set_target_properties(cmocka::cmocka PROPERTIES IMPORTED_LOCATION ${CMOCKA_LIBRARY}
      INTERFACE_INCLUDE_DIRECTORIES ${CMOCKA_INCLUDE})
  else()
    message(STATUS "cmocka: built from Debian's sources")
    _fetch(cmocka)
    file(MAKE_DIRECTORY ${_inst}/include)
    ExternalProject_Add(ep_cmocka SOURCE_DIR ${OPENPLA_SOURCES_DIR}/cmocka PREFIX ${CMAKE_BINARY_DIR}/_deps/cmocka
      CMAKE_ARGS ${_common} -DWITH_STATIC_LIB=ON -DWITH_EXAMPLES=OFF -DUNIT_TESTING=OFF
      BUILD_COMMAND ${CMAKE_COMMAND} --build <BINARY_DIR>
      INSTALL_COMMAND ${CMAKE_COMMAND} -E copy_directory <SOURCE_DIR>/include ${_inst}/include
      # cmocka 1.1.5 builds a DLL and libcmocka-static.a; 1.1.7 builds only libcmocka.a.
      COMMAND sh -c "cp <BINARY_DIR>/src/libcmocka-static.a ${_inst}/lib || cp <BINARY_DIR>/src/libcmocka.a ${_inst}/lib/libcmocka-static.a"
      BUILD_BYPRODUCTS ${_inst}/lib/libcmocka-static.a)
    add_library(cmocka::cmocka STATIC IMPORTED GLOBAL)
    set_target_properties(cmocka::cmocka PROPERTIES IMPORTED_LOCATION ${_inst}/lib/libcmocka-static.a
      INTERFACE_INCLUDE_DIRECTORIES ${_inst}/include INTERFACE_LINK_LIBRARIES "$<$<PLATFORM_ID:Windows>:dbghelp>")
    add_dependencies(cmocka::cmocka ep_cmocka)
  endif()
endif()

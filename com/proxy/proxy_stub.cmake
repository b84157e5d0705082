# SPDX-License-Identifier: MIT
# openpla_proxies: the proxies and stubs that widl generates from pla.idl, and the layer around them
# (com/proxy/proxy_stub.h).
include_guard(GLOBAL)
set(proxy_code ${CMAKE_BINARY_DIR}/idl/mspla_p.c ${CMAKE_BINARY_DIR}/idl/mspla_dlldata.c)
add_library(openpla_proxies_generated OBJECT ${proxy_code})
target_link_libraries(openpla_proxies_generated PRIVATE openpla_idl)
# The prefix is needed because openpla.dll defines its own DllGetClassObject.
target_compile_definitions(openpla_proxies_generated PRIVATE PROXY_DELEGATION ENTRY_PREFIX=openpla_proxies_
  UNICODE _WIN32_WINNT=0x0A00)
target_include_directories(openpla_proxies_generated PRIVATE ${CMAKE_SOURCE_DIR})
target_compile_options(openpla_proxies_generated PRIVATE -include ${CMAKE_SOURCE_DIR}/idl/proxy_prelude.h)

add_library(openpla_proxies STATIC $<TARGET_OBJECTS:openpla_proxies_generated>
  ${CMAKE_SOURCE_DIR}/com/proxy/proxy_stub.c ${CMAKE_SOURCE_DIR}/com/proxy/proxy_stub_request.c
  ${CMAKE_SOURCE_DIR}/com/server/call_entry.c)
target_link_libraries(openpla_proxies PUBLIC openpla_idl openpla_base rpcrt4 ole32 oleaut32 uuid openpla_flags)

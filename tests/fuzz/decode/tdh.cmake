# SPDX-License-Identifier: MIT
if(OPENPLA_SANITIZE AND CMAKE_C_COMPILER_ID MATCHES Clang)
  add_executable(make_corpus ${CMAKE_CURRENT_LIST_DIR}/make_corpus.c)
  target_link_libraries(make_corpus PRIVATE openpla_decode openpla_flags)
  add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/corpus/mof.seeds
    COMMAND make_corpus ${CMAKE_BINARY_DIR}/corpus DEPENDS make_corpus VERBATIM)
  add_custom_target(fuzz_corpus DEPENDS ${CMAKE_BINARY_DIR}/corpus/mof.seeds)
endif()
foreach(what event_values mof tmf trace_logging trace_metadata)
  openpla_fuzz(fuzz_${what} ${CMAKE_CURRENT_LIST_DIR}/fuzz_${what}.c ${CMAKE_CURRENT_LIST_DIR}/decode_event.c
    LINK openpla_decode SEEDS ${what})
endforeach()
foreach(what manifest_xml wevt_template)
  openpla_fuzz(fuzz_${what} ${CMAKE_CURRENT_LIST_DIR}/fuzz_${what}.c ${CMAKE_CURRENT_LIST_DIR}/write_manifest.c
    LINK openpla_decode SEEDS ${what})
endforeach()
openpla_fuzz(fuzz_manifest_index ${CMAKE_CURRENT_LIST_DIR}/fuzz_manifest_index.c LINK openpla_decode RUNS 2000)
openpla_fuzz(fuzz_evtx ${CMAKE_CURRENT_LIST_DIR}/fuzz_evtx.c LINK openpla_decode SEEDS trace_logging RUNS 5000)
openpla_fuzz(fuzz_payload_filter ${CMAKE_CURRENT_LIST_DIR}/fuzz_payload_filter.c LINK openpla_decode)
openpla_fuzz(fuzz_counter_manifest ${CMAKE_CURRENT_LIST_DIR}/fuzz_counter_manifest.c LINK openpla_counter_manifest)
openpla_fuzz(fuzz_extension_ini ${CMAKE_CURRENT_LIST_DIR}/fuzz_extension_ini.c LINK openpla_perflib)

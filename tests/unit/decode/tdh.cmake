# SPDX-License-Identifier: MIT
set(tests)
foreach(thing classic metadata names mof mof_files schema schemas tmf trace_logging values manifest registered wevt_template dump evtx
    payload_filter)
  list(APPEND tests test_tdh_${thing})
endforeach()
if(WIN32)
  list(APPEND tests test_tdh_bad_pointers)
endif()
openpla_tests(tests_decode TESTS ${tests} LINK openpla_decode)
openpla_tests(tests_perflib TESTS test_counter_manifest test_extension_ini LINK openpla_counter_manifest)
if(WIN32)
  # Under Wine these tests write to the prefix's registry.
  set_tests_properties(test_counter_manifest test_extension_ini PROPERTIES RESOURCE_LOCK registry)
endif()

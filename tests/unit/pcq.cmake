# SPDX-License-Identifier: MIT
openpla_test(test_pcq_methods ${CMAKE_CURRENT_LIST_DIR}/test_pcq_methods.c LINK openpla_pcq)
if(NOT WIN32) # it gives accounts as SIDs, and has a registry of its own
  openpla_test(test_pcq_gate ${CMAKE_CURRENT_LIST_DIR}/test_pcq_gate.c LINK openpla_pcq)
endif()

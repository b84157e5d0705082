# SPDX-License-Identifier: MIT
foreach(thing path formula kernel_text process api live fault)
  openpla_test(test_pdh_${thing} ${CMAKE_CURRENT_LIST_DIR}/test_pdh_${thing}.c LINK openpla_pdh)
endforeach()
if(WIN32)
  openpla_test(test_pdh_dll ${CMAKE_CURRENT_LIST_DIR}/test_pdh_dll.c LINK openpla_os)
  add_dependencies(test_pdh_dll openpdh)
endif()

# SPDX-License-Identifier: MIT
foreach(thing name set run process faults)
  openpla_test(test_store_${thing} ${CMAKE_CURRENT_LIST_DIR}/test_store_${thing}.c LINK openpla_store)
endforeach()
openpla_test(test_owner_quota ${CMAKE_CURRENT_LIST_DIR}/test_owner_quota.c LINK openpla_store)
target_link_options(test_owner_quota PRIVATE -Wl,--wrap=caller_account,--wrap=set_gate_save)

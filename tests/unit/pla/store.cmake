# SPDX-License-Identifier: MIT
openpla_tests(tests_store TESTS test_store_name test_store_set test_store_run test_store_process test_store_faults
  LINK openpla_store)
openpla_test(test_owner_quota ${CMAKE_CURRENT_LIST_DIR}/test_owner_quota.c LINK openpla_store)
target_link_options(test_owner_quota PRIVATE -Wl,--wrap=caller_account,--wrap=stored_set_check_save)

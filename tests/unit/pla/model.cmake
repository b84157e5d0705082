# SPDX-License-Identifier: MIT
openpla_tests(tests_model TESTS test_name_pattern test_model_objects test_model_rows test_model_numbers test_model_xml
  test_model_validation test_model_fault LINK openpla_model)
if(NOT WIN32)
  openpla_test(test_api_drive ${CMAKE_CURRENT_LIST_DIR}/test_api_drive.c LINK openpla_model)
  target_link_options(test_api_drive PRIVATE -Wl,--wrap=drive_is_remote)
endif()

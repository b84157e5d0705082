# SPDX-License-Identifier: MIT
openpla_tests(tests_model TESTS test_name_pattern test_model_objects test_model_rows test_model_numbers test_model_xml
  test_model_validation test_model_fault LINK openpla_model)

# SPDX-License-Identifier: MIT
openpla_test(test_name_pattern ${CMAKE_CURRENT_LIST_DIR}/test_name_pattern.c LINK openpla_model)
foreach(test objects rows numbers xml validation fault)
  openpla_test(test_model_${test} ${CMAKE_CURRENT_LIST_DIR}/test_model_${test}.c LINK openpla_model)
endforeach()

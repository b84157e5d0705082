# SPDX-License-Identifier: MIT
openpla_test(test_pcq_methods ${CMAKE_CURRENT_LIST_DIR}/test_pcq_methods.c LINK openpla_pcq)

# SPDX-License-Identifier: MIT
openpla_tests(tests_rpc TESTS test_rpc_auth test_rpc_ndr test_rpc_connection test_rpc_orpc
  WITH ${CMAKE_SOURCE_DIR}/tests/rpc/made_up_class.c LINK openpla_rpc)

# SPDX-License-Identifier: MIT
openpla_tests(tests_rpc TESTS test_rpc_auth test_rpc_ndr test_rpc_connection test_rpc_orpc test_rpc_client test_rpc_account
  WITH ${CMAKE_SOURCE_DIR}/tests/rpc/made_up_class.c LINK openpla_rpc)
# The test changes the stored accounts for other computers, which test_pcq_tcp reads.
set_tests_properties(test_rpc_account PROPERTIES RESOURCE_LOCK remote_accounts)
openpla_tests(tests_dcom TESTS test_dcom LINK openpla_remote_slots openpla_dcom_settings)

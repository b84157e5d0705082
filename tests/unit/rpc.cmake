# SPDX-License-Identifier: MIT
openpla_tests(tests_rpc TESTS test_rpc_auth test_rpc_ndr test_rpc_connection LINK openpla_rpc)

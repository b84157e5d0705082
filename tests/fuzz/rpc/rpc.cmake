# SPDX-License-Identifier: MIT
foreach(what connection auth ndr activation orpc)
  openpla_fuzz(fuzz_rpc_${what} ${CMAKE_CURRENT_LIST_DIR}/fuzz_rpc_${what}.c ${CMAKE_SOURCE_DIR}/tests/rpc/made_up_class.c
    LINK openpla_rpc)
endforeach()
openpla_fuzz(fuzz_dcom ${CMAKE_CURRENT_LIST_DIR}/fuzz_dcom.c LINK openpla_remote_slots)
openpla_fuzz(fuzz_rpc_account ${CMAKE_CURRENT_LIST_DIR}/fuzz_rpc_account.c LINK openpla_rpc)

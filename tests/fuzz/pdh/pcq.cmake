# SPDX-License-Identifier: MIT
openpla_fuzz(fuzz_pcq_methods ${CMAKE_CURRENT_LIST_DIR}/fuzz_pcq_methods.c LINK openpla_pdh_remote)
openpla_fuzz(fuzz_pcq_answer ${CMAKE_CURRENT_LIST_DIR}/fuzz_pcq_answer.c LINK openpla_pdh_remote)
openpla_fuzz(fuzz_pcq_connection ${CMAKE_CURRENT_LIST_DIR}/fuzz_pcq_connection.c LINK openpla_pdh_remote)

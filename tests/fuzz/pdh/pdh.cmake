# SPDX-License-Identifier: MIT
openpla_fuzz(fuzz_kernel_text ${CMAKE_CURRENT_LIST_DIR}/fuzz_kernel_text.c LINK openpla_pdh)
openpla_fuzz(fuzz_counterset ${CMAKE_CURRENT_LIST_DIR}/fuzz_counterset.c LINK openpla_pdh)
openpla_fuzz(fuzz_extension ${CMAKE_CURRENT_LIST_DIR}/fuzz_extension.c LINK openpla_pdh)
openpla_fuzz(fuzz_perf_object ${CMAKE_CURRENT_LIST_DIR}/fuzz_perf_object.c LINK openpla_logs)

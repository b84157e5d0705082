# SPDX-License-Identifier: MIT
openpla_fuzz(fuzz_cabinet ${CMAKE_CURRENT_LIST_DIR}/fuzz_cabinet.c LINK openpla_cabinet)

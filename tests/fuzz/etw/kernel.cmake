# SPDX-License-Identifier: MIT
openpla_fuzz(fuzz_ring ${CMAKE_CURRENT_LIST_DIR}/fuzz_ring.c LINK openpla_kernel)

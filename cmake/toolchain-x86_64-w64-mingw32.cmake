# SPDX-License-Identifier: MIT
# Debian's MinGW-w64 cross compiler for 64-bit Windows, win32 thread model; tests run under Wine.
set(CMAKE_SYSTEM_PROCESSOR AMD64)
set(_triple x86_64-w64-mingw32)
include(${CMAKE_CURRENT_LIST_DIR}/mingw-w64.cmake)

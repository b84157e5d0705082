# SPDX-License-Identifier: MIT
# Debian's MinGW-w64 cross compiler for 32-bit Windows, win32 thread model; tests run under a Wine that supports 32-bit
# programs.
set(CMAKE_SYSTEM_PROCESSOR X86)
set(_triple i686-w64-mingw32)
include(${CMAKE_CURRENT_LIST_DIR}/mingw-w64.cmake)

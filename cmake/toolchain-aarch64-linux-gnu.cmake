# SPDX-License-Identifier: MIT
# Debian's cross compiler for 64-bit ARM, with libraries of Debian's architecture arm64 (dpkg --add-architecture arm64).
# Programs run in qemu-user with the libraries of that architecture: cmake --preset tools -B build/tools-arm64
# --toolchain cmake/toolchain-aarch64-linux-gnu.cmake. CMAKE_SYSTEM_NAME is not set, because this tree treats a cross
# build as a build for Wine.
find_program(CMAKE_C_COMPILER NAMES aarch64-linux-gnu-gcc REQUIRED)
find_program(CMAKE_CROSSCOMPILING_EMULATOR NAMES qemu-aarch64-static qemu-aarch64 REQUIRED)
find_program(CMAKE_STRIP NAMES aarch64-linux-gnu-strip REQUIRED)

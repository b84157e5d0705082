# SPDX-License-Identifier: MIT
"""Where the store keeps a set's files, for tests that create them."""


def place(name):
    """Returns the subfolder of a set: the first byte of the FNV-1a hash of its file name."""
    value = 0xCBF29CE484222325
    for byte in name.encode():
        value = ((value ^ byte) * 0x100000001B3) & (2 ** 64 - 1)
    return f"{value >> 56:02x}"

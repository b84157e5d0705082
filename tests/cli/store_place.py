# SPDX-License-Identifier: MIT
"""The places of a set's files in the store, for tests that create such files."""


def place(name):
    """The folder of a set: the first byte of FNV-1a of its file's name."""
    value = 0xCBF29CE484222325
    for byte in name.encode():
        value = ((value ^ byte) * 0x100000001B3) & (2 ** 64 - 1)
    return f"{value >> 56:02x}"

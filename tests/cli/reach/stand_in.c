/* SPDX-License-Identifier: MIT */
/* In the place of openetw.dll's functions: they say that they were called, by their result. */
#include "tests/cli/reach/mark.h"

#define NAME(name)                                                                                                     \
    __declspec(dllexport) uint32_t name(void);                                                                         \
    uint32_t name(void)                                                                                                \
    {                                                                                                                  \
        return mark_of(#name);                                                                                         \
    }
#include "tests/cli/reach/names.def"

/* SPDX-License-Identifier: MIT */
/* A DLL that the program loads later, with an import that Wine lacks. */
#include "tests/cli/reach/mark.h"

__declspec(dllimport) uint32_t EventWriteEx(void);
__declspec(dllimport) uint32_t EventWrite(void);
__declspec(dllexport) uint32_t late_result(void);

/* Returns 0 if both functions are ours. */
uint32_t late_result(void)
{
    return (EventWriteEx() ^ mark_of("EventWriteEx")) | (EventWrite() ^ mark_of("EventWrite"));
}

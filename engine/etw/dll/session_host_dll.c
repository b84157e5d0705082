/* SPDX-License-Identifier: MIT */
/* The entry point of openetwhost.exe in openetw.dll. */
#include "engine/etw/session/session_start.h"

#include <windows.h>

int WINAPI OpenEtwSessionHost(void);

/* Passes the last three arguments of the command line to session_host_main. These arguments contain no spaces. */
int WINAPI OpenEtwSessionHost(void)
{
    enum { WORDS = 3, LONGEST = 63 };
    const WCHAR *line = GetCommandLineW(), *end = line + lstrlenW(line);
    char words[WORDS][LONGEST + 1], *arguments[WORDS];
    for (int i = WORDS; i-- > 0;) {
        while (end > line && end[-1] == L' ')
            end--;
        const WCHAR *at = end;
        while (at > line && at[-1] != L' ')
            at--;
        int length = 0;
        for (; at + length < end && length < LONGEST; length++)
            words[i][length] = (char)at[length];
        words[i][length] = 0;
        arguments[i] = words[i];
        end = at;
    }
    return session_host_main(WORDS, arguments);
}

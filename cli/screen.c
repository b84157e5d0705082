/* SPDX-License-Identifier: MIT */
#include "cli/screen.h"

#ifdef _WIN32
#include <windows.h>

bool screen_clear(void)
{
    const HANDLE out = GetStdHandle(STD_OUTPUT_HANDLE);
    const COORD top = {0, 0};
    CONSOLE_SCREEN_BUFFER_INFO info;
    DWORD done;
    if (!GetConsoleScreenBufferInfo(out, &info))
        return false;
    const DWORD cells = (DWORD)info.dwSize.X * (DWORD)info.dwSize.Y;
    return FillConsoleOutputCharacterW(out, L' ', cells, top, &done) && SetConsoleCursorPosition(out, top);
}
#else
#include <stdio.h>
#include <unistd.h>

bool screen_clear(void)
{
    return isatty(STDOUT_FILENO) && fputs("\x1b[H\x1b[2J", stdout) >= 0;
}
#endif

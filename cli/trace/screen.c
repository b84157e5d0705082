/* SPDX-License-Identifier: MIT */
#include "cli/trace/screen.h"

#ifdef _WIN32
#include <windows.h>
#include <io.h>

bool screen_is_terminal(FILE *stream)
{
    DWORD mode; /* NUL and printers are character devices too, but no console */
    return GetConsoleMode((HANDLE)_get_osfhandle(_fileno(stream)), &mode);
}

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
#include <unistd.h>

bool screen_is_terminal(FILE *stream)
{
    return isatty(fileno(stream));
}

bool screen_clear(void)
{
    return screen_is_terminal(stdout) && fputs("\x1b[H\x1b[2J", stdout) >= 0;
}
#endif

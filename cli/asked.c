/* SPDX-License-Identifier: MIT */
/* What people are asked, and the times that they say. */
#include "cli/cli.h"
#include "cli/interrupt.h"
#include "engine/base/memory.h"
#include "engine/logs/text_rows.h"

#include <stdio.h>
#include <string.h>

#ifdef _WIN32
#include <windows.h>
#else
#include <poll.h>
#include <termios.h>
#include <unistd.h>
#endif

int cli_time(const char *verb, const char *option, const struct texts *words, int64_t *local)
{
    struct text_buffer b = {0};
    if (words->count == 0)
        return CLI_DONE;
    for (size_t i = 0; i < words->count; i++)
        text_buffer_format(&b, "%s%s", i > 0 ? " " : "", words->items[i]);
    char *text = text_buffer_take(&b);
    if (!text)
        return cli_error(verb, E_OUTOFMEMORY);
    int result = CLI_DONE;
    if (!text_time_read(text, strlen(text), TIME_MONTH_FIRST, local))
        result = cli_usage(verb, "-%s: \"%s\" is no time; \"12/31/2026 23:59:59\" is one", option, text);
    memory_free(text);
    return result;
}

#ifdef _WIN32
/* Ctrl+C ends the reading of a console. */
static bool input_comes(void)
{
    return true;
}
#else
/* False: the user wants an end, which while signals are blocked does not end the reading of a terminal. */
static bool input_comes(void)
{
    enum { AGAIN = 100 /* ms */ };
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    while (isatty(STDIN_FILENO) && poll(&input, 1, AGAIN) == 0)
        if (interrupt_wait(0))
            return false;
    return true;
}
#endif

bool cli_may_overwrite(const char *path)
{
    char answer[8] = "";
    fprintf(cli_messages(), "'%s' already exists. Overwrite it? [y/n] ", path);
    fflush(cli_messages());
    const bool answered = input_comes() && fgets(answer, sizeof answer, stdin);
    if (!answered) /* what follows is a line of its own */
        fputc('\n', cli_messages());
    return answered && (*answer == 'y' || *answer == 'Y');
}

#ifdef _WIN32
static HRESULT read_hidden(char *line, int room)
{
    const HANDLE console = GetStdHandle(STD_INPUT_HANDLE);
    DWORD mode;
    if (!GetConsoleMode(console, &mode))
        return HRESULT_FROM_WIN32(GetLastError());
    SetConsoleMode(console, mode & ~(DWORD)ENABLE_ECHO_INPUT);
    const bool read = fgets(line, room, stdin) != NULL;
    SetConsoleMode(console, mode);
    return read ? S_OK : E_FAIL;
}
#else
static HRESULT read_hidden(char *line, int room)
{
    struct termios before, hidden;
    if (tcgetattr(STDIN_FILENO, &before) != 0)
        return E_FAIL;
    hidden = before;
    hidden.c_lflag &= ~(tcflag_t)ECHO;
    tcsetattr(STDIN_FILENO, TCSANOW, &hidden);
    const bool read = fgets(line, room, stdin) != NULL;
    tcsetattr(STDIN_FILENO, TCSANOW, &before);
    return read ? S_OK : E_FAIL;
}
#endif

HRESULT cli_ask_password(const char *account, char **out)
{
    enum { ROOM = 256 };
    char *line = memory_zero(ROOM, 1);
    *out = NULL;
    if (!line)
        return E_OUTOFMEMORY;
    fprintf(stderr, "Password of %s: ", account);
    fflush(stderr);
    HRESULT hr = read_hidden(line, ROOM);
    fputc('\n', stderr);
    line[strcspn(line, "\r\n")] = 0;
    if (SUCCEEDED(hr)) {
        *out = line;
        return S_OK;
    }
    memory_free_secret(line);
    return error_set(E_INVALIDARG, "the password of %s is missing, and there is no console to ask for it", account);
}

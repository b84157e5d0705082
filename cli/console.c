/* SPDX-License-Identifier: MIT */
/* Prints messages, sets the console's code page, shows progress, and asks questions. */
#include "cli/cli.h"
#include "engine/base/clock.h"
#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/logs/text_rows.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#ifdef _WIN32
#include <windows.h>
#include <io.h>
#else
#include <poll.h>
#include <termios.h>
#include <unistd.h>
#endif

/* Messages have the form and the stream of Windows' tools (DECISIONS 130). */
static bool as_windows;

void cli_speak_as_windows(int argc, char **argv)
{
    as_windows = !options_are_asked() && !cli_wants_json(argc, argv);
}

FILE *cli_messages(void)
{
    return as_windows ? stdout : stderr;
}

bool cli_wants_json(int argc, char **argv)
{
    for (int i = 0; i < argc; i++)
        if (text_equal_nocase(argv[i], "-json") || text_equal_nocase(argv[i], "--json") ||
            text_equal_nocase(argv[i], "/json"))
            return true;
    return false;
}

/* Returns the end of a message line: scripts split the output of Windows' tools at CR LF. */
static const char *line_end(void)
{
    return as_windows ? "\r\n" : "\n";
}

static void begin_message(const char *verb)
{
    if (as_windows)
        fputs("\r\nError: ", stdout);
    else
        fprintf(stderr, "openpla %s: ", verb);
}

int cli_error(const char *verb, HRESULT hr)
{
    begin_message(verb);
    fprintf(cli_messages(), "%s (0x%08X)%s", error_text(hr), (unsigned)hr, line_end());
    return CLI_FAILED;
}

int cli_usage(const char *verb, const char *format, ...)
{
    va_list list;
    begin_message(verb);
    va_start(list, format);
    vfprintf(cli_messages(), format, list);
    va_end(list);
    fprintf(cli_messages(), "%sSee: openpla help %s%s", line_end(), verb, line_end());
    return CLI_USAGE;
}

#ifdef _WIN32
bool screen_is_terminal(FILE *stream)
{
    DWORD mode; /* NUL and printers are also character devices, but not consoles */
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
bool screen_is_terminal(FILE *stream)
{
    return isatty(fileno(stream));
}

bool screen_clear(void)
{
    return screen_is_terminal(stdout) && fputs("\x1b[H\x1b[2J", stdout) >= 0;
}
#endif

/* ---- progress ---- */

void cli_progress_show(struct cli_progress *p, uint64_t done, uint64_t total)
{
    enum { FIRST = 1000, AGAIN = 500 }; /* ms */
    const uint64_t now = clock_monotonic_ms();
    if (p->begun == 0)
        p->begun = now;
    if (now - p->begun < FIRST || now - p->shown < AGAIN || !screen_is_terminal(stderr))
        return;
    p->shown = now;
    p->visible = true;
    if (total > 0) {
        const double part = done < total ? (double)done / (double)total : 1;
        fprintf(stderr, "\r%5.1f %%", 100 * part);
    } else {
        fprintf(stderr, "\r%llu", (unsigned long long)done);
    }
    fflush(stderr);
}

void cli_progress_end(struct cli_progress *p)
{
    if (p->visible) {
        fputs("\r                    \r", stderr);
        p->visible = false;
    }
}

/* ---- questions, and times on command lines ---- */

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
        result =
            cli_usage(verb, "-%s: invalid time '%s': expected, for example, \"12/31/2026 23:59:59\"", option, text);
    memory_free(text);
    return result;
}

#ifdef _WIN32
/* Waits for input. On Windows there is nothing to do, because Ctrl+C interrupts a read from the console. */
static bool input_comes(void)
{
    return true;
}
#else
/* Waits for input. Returns false if the user wants to exit. This function is needed because the signals are blocked and
   therefore do not interrupt a read from the terminal. */
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
    if (!answered) /* the next output must start on a new line */
        fputc('\n', cli_messages());
    return answered && (*answer == 'y' || *answer == 'Y');
}

#ifdef _WIN32
static HRESULT read_hidden(char *line, int room)
{
    const HANDLE console = GetStdHandle(STD_INPUT_HANDLE);
    DWORD mode;
    if (!GetConsoleMode(console, &mode)) /* standard input is a file or a pipe */
        return fgets(line, room, stdin) ? S_OK : E_FAIL;
    SetConsoleMode(console, mode & ~(DWORD)ENABLE_ECHO_INPUT);
    const bool read = fgets(line, room, stdin) != NULL;
    SetConsoleMode(console, mode);
    return read ? S_OK : E_FAIL;
}
#else
static HRESULT read_hidden(char *line, int room)
{
    struct termios before, hidden;
    if (tcgetattr(STDIN_FILENO, &before) != 0) /* standard input is a file or a pipe */
        return fgets(line, room, stdin) ? S_OK : E_FAIL;
    hidden = before;
    hidden.c_lflag &= ~(tcflag_t)ECHO;
    tcsetattr(STDIN_FILENO, TCSANOW, &hidden);
    const bool read = fgets(line, room, stdin) != NULL;
    tcsetattr(STDIN_FILENO, TCSANOW, &before);
    return read ? S_OK : E_FAIL;
}
#endif

bool cli_input_is_console(void)
{
#ifdef _WIN32
    DWORD mode;
    return GetConsoleMode(GetStdHandle(STD_INPUT_HANDLE), &mode);
#else
    return isatty(STDIN_FILENO);
#endif
}

HRESULT cli_ask_password(const char *account, char **out)
{
    enum { ROOM = 256 };
    char *line = memory_zero(ROOM, 1);
    *out = NULL;
    if (!line)
        return E_OUTOFMEMORY;
    const bool asks = cli_input_is_console();
    if (asks) {
        fprintf(stderr, "Password of %s: ", account);
        fflush(stderr);
    }
    HRESULT hr = read_hidden(line, ROOM);
    if (asks)
        fputc('\n', stderr);
    line[strcspn(line, "\r\n")] = 0;
    if (SUCCEEDED(hr)) {
        *out = line;
        return S_OK;
    }
    memory_free_secret(line);
    return error_set(E_INVALIDARG, "missing password for '%s': there is no console to ask for it", account);
}

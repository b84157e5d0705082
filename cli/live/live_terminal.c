/* SPDX-License-Identifier: MIT */
/* Controls the terminal of openpla live: switches to the alternate screen, determines its size, and reads single
   keys. */
#include "cli/cli.h"
#include "cli/live/live.h"

#ifdef _WIN32
#include <windows.h>
#else
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>
#endif

#define SCREEN_BEGIN "\x1b[?1049h\x1b[?25l\x1b[2J"
#define SCREEN_END   "\x1b[?25h\x1b[?1049l"

#ifdef _WIN32
static DWORD output_before, input_before;
static bool has_input;

bool live_terminal_begin(void)
{
    const HANDLE out = GetStdHandle(STD_OUTPUT_HANDLE), in = GetStdHandle(STD_INPUT_HANDLE);
    if (!GetConsoleMode(out, &output_before) ||
        !SetConsoleMode(out, output_before | ENABLE_PROCESSED_OUTPUT | ENABLE_VIRTUAL_TERMINAL_PROCESSING))
        return false;
    has_input = GetConsoleMode(in, &input_before) != 0;
    if (has_input)
        SetConsoleMode(in, ENABLE_PROCESSED_INPUT | ENABLE_WINDOW_INPUT);
    fputs(SCREEN_BEGIN, stdout);
    return true;
}

void live_terminal_size(unsigned *columns, unsigned *lines)
{
    CONSOLE_SCREEN_BUFFER_INFO info;
    *columns = 80;
    *lines = 25;
    if (!GetConsoleScreenBufferInfo(GetStdHandle(STD_OUTPUT_HANDLE), &info))
        return;
    *columns = (unsigned)(info.srWindow.Right - info.srWindow.Left + 1);
    *lines = (unsigned)(info.srWindow.Bottom - info.srWindow.Top + 1);
}

static enum live_key key_of(const KEY_EVENT_RECORD *key)
{
    switch (key->wVirtualKeyCode) {
    case VK_UP:
        return LIVE_KEY_UP;
    case VK_DOWN:
        return LIVE_KEY_DOWN;
    case VK_PRIOR:
        return LIVE_KEY_PAGE_UP;
    case VK_NEXT:
        return LIVE_KEY_PAGE_DOWN;
    case VK_HOME:
        return LIVE_KEY_TOP;
    case VK_SPACE:
        return LIVE_KEY_PAUSE;
    default:
        return key->uChar.UnicodeChar == 'q' || key->uChar.UnicodeChar == 'Q' ? LIVE_KEY_QUIT : LIVE_KEY_NONE;
    }
}

enum live_key live_terminal_key(uint32_t timeout_ms)
{
    const HANDLE in = GetStdHandle(STD_INPUT_HANDLE);
    INPUT_RECORD record;
    DWORD got;
    if (!has_input || WaitForSingleObject(in, timeout_ms) != WAIT_OBJECT_0) {
        if (!has_input)
            Sleep(timeout_ms);
        return LIVE_KEY_NONE;
    }
    if (!ReadConsoleInputW(in, &record, 1, &got) || got != 1 || record.EventType != KEY_EVENT ||
        !record.Event.KeyEvent.bKeyDown)
        return LIVE_KEY_NONE;
    return key_of(&record.Event.KeyEvent);
}

void live_terminal_end(void)
{
    fputs(SCREEN_END, stdout);
    fflush(stdout);
    SetConsoleMode(GetStdHandle(STD_OUTPUT_HANDLE), output_before);
    if (has_input)
        SetConsoleMode(GetStdHandle(STD_INPUT_HANDLE), input_before);
}
#else
static struct termios before;
static bool has_input;

bool live_terminal_begin(void)
{
    if (!isatty(STDOUT_FILENO))
        return false;
    has_input = tcgetattr(STDIN_FILENO, &before) == 0;
    if (has_input) {
        struct termios keys = before;
        keys.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
        keys.c_cc[VSUSP] = _POSIX_VDISABLE; /* suspending the program would leave the terminal in the alternate
                                               screen */
        keys.c_cc[VMIN] = 0;
        keys.c_cc[VTIME] = 0;
        tcsetattr(STDIN_FILENO, TCSANOW, &keys);
    }
    fputs(SCREEN_BEGIN, stdout);
    return true;
}

void live_terminal_size(unsigned *columns, unsigned *lines)
{
    struct winsize size;
    const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0;
    *columns = known ? size.ws_col : 80;
    *lines = known ? size.ws_row : 24;
}

/* Returns the key. An escape sequence arrives in one piece; unknown sequences are ignored. */
static enum live_key key_of(const char *bytes, size_t size)
{
    if (size >= 3 && bytes[0] == '\x1b' && (bytes[1] == '[' || bytes[1] == 'O')) {
        switch (bytes[2]) {
        case 'A':
            return LIVE_KEY_UP;
        case 'B':
            return LIVE_KEY_DOWN;
        case 'H':
            return LIVE_KEY_TOP;
        case '5':
            return LIVE_KEY_PAGE_UP;
        case '6':
            return LIVE_KEY_PAGE_DOWN;
        default:
            return LIVE_KEY_NONE;
        }
    }
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] == 'q' || bytes[i] == 'Q')
            return LIVE_KEY_QUIT;
        if (bytes[i] == ' ')
            return LIVE_KEY_PAUSE;
    }
    return LIVE_KEY_NONE;
}

enum live_key live_terminal_key(uint32_t timeout_ms)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    char bytes[32];
    if (poll(&input, has_input ? 1 : 0, (int)timeout_ms) <= 0)
        return LIVE_KEY_NONE;
    const ssize_t got = read(STDIN_FILENO, bytes, sizeof bytes);
    if (got <= 0) { /* the terminal was closed; SIGHUP will end the loop, and until then no key can be read */
        has_input = false;
        return LIVE_KEY_NONE;
    }
    return key_of(bytes, (size_t)got);
}

void live_terminal_end(void)
{
    fputs(SCREEN_END, stdout);
    fflush(stdout);
    if (isatty(STDIN_FILENO))
        tcsetattr(STDIN_FILENO, TCSANOW, &before);
}
#endif

/* SPDX-License-Identifier: MIT */
/* api_target.exe WHAT [COUNT]: the program that is traced in the tests of API tracing. Its exit code must be the same
   with and without tracing; 40 means success. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <windows.h>
#include <winternl.h>
#include <string.h>

enum { RIGHT = 40, WRONG = 1 };

/* Returns whether the function is hooked: its address is then in memory that belongs to no module. */
static bool is_hooked(const void *function)
{
    HMODULE module;
    return !GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
                               function, &module);
}

/* Waits until this process is traced, in tests that need every call of a short process. On a busy machine, the process
   could exit before the watcher sees it. */
static void await_tracing(void)
{
    enum { MOST = 400, STEP_MS = 5 };
    if (!getenv("API_TARGET_AWAITS"))
        return;
    for (int i = 0; i < MOST && !is_hooked((void *)MulDiv) && !is_hooked((void *)CreateFileW); i++)
        Sleep(STEP_MS);
}

/* ---- a process that does not answer Wine's server ----
   If a program calls VirtualAllocEx or CreateRemoteThread for another process, Wine does a part of the call in a thread
   of that process, which it interrupts with a signal. If that process blocks the signal, it seems to be stopped, as in
   a debugger or after SIGSTOP. Only a system call of the host OS can block the signal. */

#ifdef _WIN64
static bool signal_block(bool block)
{
    enum { RT_SIGPROCMASK = 14, SIG_BLOCKS = 0, SIG_UNBLOCKS = 1, SIGNAL = 10 /* SIGUSR1 */ };
    const uint64_t set = UINT64_C(1) << (SIGNAL - 1);
    uint64_t result = RT_SIGPROCMASK;
    if (!GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "wine_get_version"))
        return false;
    __asm__ volatile("xorl %%edx, %%edx\n\tmovl %[bytes], %%r10d\n\tsyscall"
                     : "+a"(result)
                     : "D"((uint64_t)(block ? SIG_BLOCKS : SIG_UNBLOCKS)), "S"(&set), [bytes] "i"((int)sizeof set)
                     : "rcx", "rdx", "r10", "r11", "memory");
    return result == 0;
}
#else
static bool signal_block(bool block)
{
    return !block;
}
#endif

static bool file_is_there(const WCHAR *path)
{
    return GetFileAttributesW(path) != INVALID_FILE_ATTRIBUTES;
}

/* Blocks the signal until the file API_TARGET_FILE exists. Creates a second file, with ".silent" appended to the name,
   before the loop begins. The calls in the loop do not need Wine's server. */
static bool stay_silent(void)
{
    WCHAR path[MAX_PATH], begun[MAX_PATH + 8];
    if (!GetEnvironmentVariableW(L"API_TARGET_FILE", path, MAX_PATH))
        return false;
    wcscpy(begun, path);
    wcscat(begun, L".silent");
    const HANDLE file = CreateFileW(begun, GENERIC_WRITE, 0, NULL, CREATE_ALWAYS, 0, NULL);
    if (file == INVALID_HANDLE_VALUE || !CloseHandle(file) || !signal_block(true))
        return false;
    while (!file_is_there(path))
        Sleep(1);
    return signal_block(false);
}

/* Each call reads the import slot again, so it uses a hook that was set while the process runs. */
static __attribute__((noinline, noclone)) bool a_thousand_calls(void)
{
    for (int i = 0; i < 1000; i++)
        if (MulDiv(i, 3, 1) != 3 * i)
            return false;
    return true;
}

/* Reads the import slot again at each call of this function. */
static __attribute__((noinline, noclone)) bool is_traced(void)
{
    return is_hooked((void *)MulDiv);
}

/* If `count` is 2, the process also waits until it is traced, after it has unblocked the signal. */
static int silent(int count)
{
    enum { MOST = 40000, STEP_MS = 5 };
    if (!stay_silent())
        return WRONG;
    for (int i = 0; count == 2 && i < MOST && !is_traced(); i++)
        Sleep(STEP_MS);
    return a_thousand_calls() ? RIGHT : WRONG;
}

/* ---- the calls ---- */

static int known_calls(int count)
{
    for (int i = 0; i < count; i++) {
        SetLastError(77);
        const HANDLE file = CreateFileW(L"C:\\no such folder\\a.txt", GENERIC_READ, 0, NULL, OPEN_EXISTING, 0, NULL);
        if (file != INVALID_HANDLE_VALUE || GetLastError() != ERROR_PATH_NOT_FOUND)
            return WRONG;
    }
    return MulDiv(6, 7, 1) == 42 ? RIGHT : WRONG;
}

static int by_name(int count)
{
    typedef int(WINAPI * muldiv)(int, int, int);
    const HMODULE kernel = GetModuleHandleW(L"kernel32.dll");
    int sum = 0;
    for (int i = 0; i < count; i++)
        sum += ((muldiv)(void *)GetProcAddress(kernel, "MulDiv"))(2, 3, 1);
    /* The import slot and GetProcAddress must still return the same address. */
    return sum == 6 * count && (void *)GetProcAddress(kernel, "MulDiv") == (void *)MulDiv ? RIGHT : WRONG;
}

/* Calls a function with 20 arguments, of which 12 are on the stack, variadic functions, and functions with
   floating-point arguments. */
static int odd_arguments(int count)
{
    char text[256];
    for (int i = 0; i < count; i++) {
        wsprintfA(text, "%d %d %d %d %d %d %d %d %s", 1, 2, 3, 4, 5, 6, 7, 8, "nine");
        if (strcmp(text, "1 2 3 4 5 6 7 8 nine") != 0)
            return WRONG;
        const HFONT font = CreateFontW(12, 0, 0, 0, 400, 0, 0, 0, 0, 0, 0, 0, 0, L"Arial");
        if (!font || !DeleteObject(font))
            return WRONG;
    }
    return RIGHT;
}

/* Calls functions with floating-point arguments and results, results of 64 bits, and arguments in registers. Also
   passes an invalid address to lstrlenA, which does not crash. */
static int odd_values(int count)
{
    typedef double (*power)(double, double);
    typedef double (*number)(const char *);
    typedef ULONG(__fastcall * swap)(ULONG);
    const HMODULE library = LoadLibraryW(L"msvcrt.dll"), loader = GetModuleHandleW(L"ntdll.dll");
    const power pow_of = (power)(void *)GetProcAddress(library, "pow");
    const number number_of = (number)(void *)GetProcAddress(library, "atof");
    const swap swapped = (swap)(void *)GetProcAddress(loader, "RtlUlongByteSwap");
    const char *volatile invalid = (const char *)(INT_PTR)-16;
    ULONGLONG before = GetTickCount64();
    for (int i = 0; i < count; i++) {
        const ULONGLONG now = GetTickCount64();
        if (now < before || now - before > 3600000 || pow_of(2.0, 10.0 + i % 2) != 1024.0 * (1 + i % 2) ||
            number_of("-2.25") != -2.25 || (swapped && swapped(0x11223344) != 0x44332211) || lstrlenA(invalid) != 0)
            return WRONG;
        before = now;
    }
    return RIGHT;
}

static jmp_buf place;

static BOOL CALLBACK leave(LPWSTR name, LONG_PTR value)
{
    (void)name;
    (void)value;
    longjmp(place, 1);
}

static BOOL CALLBACK leave_code_page(LPWSTR name)
{
    return leave(name, 0);
}

/* Calls a function whose callback does not return to it, but jumps away. */
static int unwinding(int count)
{
    volatile int left = 0;
    for (volatile int i = 0; i < count; i++)
        if (setjmp(place) == 0)
            EnumSystemCodePagesW(leave_code_page, CP_INSTALLED);
        else
            left++;
    return left == count ? RIGHT : WRONG;
}

static volatile LONG thread_sum;

static DWORD WINAPI thread_calls(void *number)
{
    for (int i = 0; i < 10; i++)
        if (MulDiv((int)(INT_PTR)number, 2, 1) != 2 * (int)(INT_PTR)number)
            return 0;
    InterlockedIncrement(&thread_sum);
    return 0;
}

static int threads(int count)
{
    enum { AT_ONCE = 50 };
    HANDLE handles[AT_ONCE];
    for (int done = 0; done < count; done += AT_ONCE) {
        for (int i = 0; i < AT_ONCE; i++)
            if (!(handles[i] = CreateThread(NULL, 65536, thread_calls, (void *)(INT_PTR)i, 0, NULL)))
                return WRONG;
        WaitForMultipleObjects(AT_ONCE, handles, TRUE, INFINITE);
        for (int i = 0; i < AT_ONCE; i++)
            CloseHandle(handles[i]);
    }
    return thread_sum == count ? RIGHT : WRONG;
}

/* ---- hostile ---- */

/* Loads and unloads a module while its functions are traced. */
static int unloading(int count)
{
    for (int i = 0; i < count; i++) {
        const HMODULE module = LoadLibraryW(L"cabinet.dll");
        if (!module || !GetProcAddress(module, "FCICreate") || !FreeLibrary(module))
            return WRONG;
    }
    return MulDiv(6, 7, 1) == 42 ? RIGHT : WRONG;
}

static void overwrite(uint8_t *at, size_t size)
{
    DWORD before;
    if (VirtualProtect(at, size, PAGE_READWRITE, &before)) {
        memset(at, 0xFF, size);
        VirtualProtect(at, size, before, &before);
    }
}

/* Overwrites the tables of a module, then loads another module. This load makes the tracer read the tables. */
static int corrupt_tables(int count)
{
    uint8_t *module = (uint8_t *)LoadLibraryW(L"cabinet.dll");
    if (!module)
        return WRONG;
    const IMAGE_NT_HEADERS *nt = (const void *)(module + ((const IMAGE_DOS_HEADER *)(void *)module)->e_lfanew);
    const IMAGE_DATA_DIRECTORY exports = nt->OptionalHeader.DataDirectory[IMAGE_DIRECTORY_ENTRY_EXPORT];
    overwrite(module + exports.VirtualAddress, sizeof(IMAGE_EXPORT_DIRECTORY));
    for (int i = 0; i < count; i++)
        if (!FreeLibrary(LoadLibraryW(L"lz32.dll")))
            return WRONG;
    overwrite(module, 4096);
    for (int i = 0; i < count; i++)
        if (!FreeLibrary(LoadLibraryW(L"lz32.dll")))
            return WRONG;
    return MulDiv(6, 7, 1) == 42 ? RIGHT : WRONG;
}

/* Overwrites the settings that the collector shares with this process. Finds them by their first bytes. */
static int overwrite_settings(int count)
{
    MEMORY_BASIC_INFORMATION page;
    int found = 0;
    (void)count;
    for (uint8_t *at = NULL; VirtualQuery(at, &page, sizeof page); at = (uint8_t *)page.BaseAddress + page.RegionSize)
        if (page.State == MEM_COMMIT && page.Type == MEM_MAPPED && page.Protect == PAGE_READWRITE &&
            page.RegionSize > 4096 && memcmp((uint8_t *)page.BaseAddress + 4096, "OPTS", 4) == 0) {
            memset(page.BaseAddress, 0xA5, page.RegionSize);
            found++;
        }
    return MulDiv(6, 7, 1) == 42 ? RIGHT + found : WRONG;
}

static int sleeping(int count)
{
    Sleep((DWORD)count);
    return MulDiv(6, 7, 1) == 42 ? RIGHT : WRONG;
}

/* Calls functions until the file API_TARGET_FILE exists. */
static int until_file(int count)
{
    const WCHAR *path = _wgetenv(L"API_TARGET_FILE");
    (void)count;
    do {
        if (!a_thousand_calls())
            return WRONG;
        Sleep(1);
    } while (!file_is_there(path));
    return RIGHT;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(int count);
    } all[] = {
        {"known", known_calls}, {"byname", by_name},   {"odd", odd_arguments},      {"unwind", unwinding},
        {"threads", threads},   {"unload", unloading}, {"corrupt", corrupt_tables}, {"scribble", overwrite_settings},
        {"sleep", sleeping},    {"until", until_file}, {"values", odd_values},      {"silent", silent},
    };
    await_tracing();
    for (size_t i = 0; argc > 1 && i < sizeof all / sizeof *all; i++)
        if (strcmp(argv[1], all[i].name) == 0)
            return all[i].run(argc > 2 ? atoi(argv[2]) : 1);
    return 2;
}

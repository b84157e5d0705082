/* SPDX-License-Identifier: MIT */
/* Reads, writes and parses files of the Linux kernel (/proc, /sys, tracefs), in the native build and under Wine. */
#ifndef OPENPLA_KERNEL_FILE_H
#define OPENPLA_KERNEL_FILE_H

#include "engine/base/text.h"
#include "engine/base/wintypes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct kernel_file;
/* Opens a file by its Unix path ("/proc/stat"). Fails with HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND) if the file does
   not exist, and always on real Windows. */
HRESULT kernel_file_open(const char *path, struct kernel_file **out);
/* Reads the whole file from its beginning. The text is NUL-terminated and valid until the next read or close. Reading a
   file that no longer exists (because its process has exited) fails. */
HRESULT kernel_file_read(struct kernel_file *f, const char **text, size_t *size);
/* Like kernel_file_read, for files that the kernel returns in one piece: a process's files, and many other files
   without long lists. A read that does not fill the buffer has returned the whole file, so no second read is needed. */
HRESULT kernel_file_read_piece(struct kernel_file *f, const char **text, size_t *size);
void kernel_file_close(struct kernel_file *f); /* NULL is allowed */
/* Opens a file, reads it and closes it. The contents are stored in *text, which is from memory_alloc and ends with a
   NUL. The length of the contents, including embedded NULs, is stored in *size; `size` may be NULL. On failure, *text
   is NULL and *size is 0. */
HRESULT kernel_file_text(const char *path, char **text, size_t *size);
/* Returns the number of files that one part of the program can keep open without leaving too few for the others; at
   least 64. */
size_t kernel_file_share(void);
/* Calls `each` with the name of each entry, including names that begin with a dot, until a call fails. */
HRESULT kernel_folder_each(const char *path, HRESULT (*each)(void *user, const char *name), void *user);
/* Lists the names of a folder's entries ("/sys/block"), except names that begin with a dot. */
HRESULT kernel_folder_names(const char *path, struct texts *names);
/* Calls `each` for all names that consist of `prefix` and `more` further characters, and possibly for other names.
   Under Wine this saves microseconds for each name that is not passed to `each`. */
HRESULT kernel_folder_each_like(const char *path, const char *prefix, size_t more,
                                HRESULT (*each)(void *user, const char *name), void *user);
/* Lists the numbers among a folder's entry names (in "/proc" the process ids). *ids is from memory_alloc. */
HRESULT kernel_folder_numbers(const char *path, uint32_t **ids, size_t *count);
/* Lists only the numbers from `low` to `high`. */
HRESULT kernel_folder_numbers_between(const char *path, uint32_t low, uint32_t high, uint32_t **ids, size_t *count);
/* Returns the size and the free space, in bytes, of the file system that contains the folder. Only space that this user
   can use counts as free. */
HRESULT kernel_folder_space(const char *path, uint64_t *size, uint64_t *free);

/* ---- numbers, words and lines of kernel files ---- */

/* Skips spaces and tabs. */
static inline const char *kernel_skip(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    return p;
}

/* Reads a decimal number after optional spaces and tabs; values above 64 bits become the largest value. NULL: no digit
   follows. */
static inline const char *kernel_number(const char *p, const char *end, uint64_t *out)
{
    p = kernel_skip(p, end);
    const char *start = p;
    uint64_t v = 0;
    for (; p < end && *p >= '0' && *p <= '9'; p++) {
        unsigned digit = (unsigned)(*p - '0');
        v = p - start >= 19 && v > (UINT64_MAX - digit) / 10 ? UINT64_MAX : v * 10 + digit;
    }
    *out = v;
    return p > start ? p : NULL;
}

/* Returns the end of the word at `p`. */
static inline const char *kernel_word_end(const char *p, const char *end)
{
    while (p < end && *p != ' ' && *p != '\t' && *p != '\n')
        p++;
    return p;
}

static inline const char *kernel_line_end(const char *p, const char *end)
{
    const char *line = text_find(p, end, '\n');
    return line ? line : end;
}

static inline bool kernel_starts(const char *p, const char *end, const char *word, size_t length)
{
    return (size_t)(end - p) >= length && !memcmp(p, word, length);
}

/* ---- control files (tracefs) and streams of raw pages ----
   Paths are in Unix form. Real Windows has none of these files. */

/* Writes the text in one call. Fails with HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND) if the file does not exist, and with
   HRESULT_FROM_WIN32(ERROR_ACCESS_DENIED) if this user may not write the file. Fails with another error if the kernel
   rejects the text. */
HRESULT kernel_control_write(const char *path, const char *text);
/* Creates a folder. Fails with HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS) if the folder exists. */
HRESULT kernel_control_folder(const char *path);
/* Removes a folder that the kernel removes with all its contents, such as an instance of tracefs. Returns S_OK if the
   folder does not exist. Fails with HRESULT_FROM_WIN32(ERROR_BUSY) if a process has a file in the folder open. */
HRESULT kernel_control_remove(const char *path);

/* Returns the name of the kernel's trace clock that has the same zero as clock_ticks. 100 ns of this clock are one tick
   of clock_ticks. */
const char *kernel_trace_clock(void);

struct kernel_stream;
HRESULT kernel_stream_open(const char *path, struct kernel_stream **out);
/* Reads the next `bytes` bytes; the kernel returns either all of these bytes or none. S_FALSE: no bytes are ready.
   Under Wine the call waits until the bytes are ready. Therefore, before such a call, a caller that must not wait
   queries the number of available bytes. */
HRESULT kernel_stream_read(struct kernel_stream *s, void *to, uint32_t bytes);
void kernel_stream_close(struct kernel_stream *s); /* NULL is allowed */

/* ---- /proc/loadavg ---- */

/* Numbers that change whenever a process or thread of the host OS starts or ends. */
struct kernel_load {
    uint64_t threads; /* number of threads of all processes */
    uint64_t last_id; /* latest id of a new process or thread in this PID namespace */
};
/* Parses loadavg. False if a number is missing or 0; *out is then zero. */
bool kernel_load_parse(const char *text, size_t size, struct kernel_load *out);

/* ---- /proc/<id> ---- */

struct process_stat {
    const char *name; /* points into the text; not NUL-terminated */
    size_t name_length;
    char state; /* 'R', 'S' ...; 'Z': it has exited, and its parent has not yet waited for it */
    uint32_t parent, threads, flags;
    uint64_t user_ticks, kernel_ticks, start_ticks; /* in units of 10 ms; start_ticks counts from the host OS's start */
    uint64_t faults;                                /* minor and major */
    uint64_t virtual_bytes, resident_pages;
};
/* Whether the process is Wine's server, according to its name: wineserver, wineserver32 or wineserver64. */
static inline bool process_is_wine_server(const struct process_stat *stat)
{
    static const char name[] = "wineserver";
    return stat->name_length >= sizeof name - 1 && !memcmp(stat->name, name, sizeof name - 1);
}
/* This bit of `flags` marks a thread of the kernel. */
enum { PROCESS_OF_KERNEL = 0x00200000 };
/* Parses stat. False if the text is cut off or has another form. */
bool process_stat_parse(const char *text, size_t size, struct process_stat *out);

/* The first thread's run time in nanoseconds, and how many times it has run. */
struct process_run_time {
    uint64_t ran, times;
};
/* Parses schedstat. False if the kernel does not record run times. */
bool process_run_time_parse(const char *text, size_t size, struct process_run_time *out);

/* Numbers from /proc/<id>/status; INT64_MIN if a number is missing. */
struct process_status {
    int64_t virtual_peak, resident_peak, resident_private, swapped; /* bytes */
    int64_t switches; /* the first thread's context switches, voluntary or not */
};
/* Parses the file `status`. */
void process_status_parse(const char *text, size_t size, struct process_status *out);

struct process_io {
    int64_t reads, writes, read_bytes, written_bytes;
};
/* Parses the file `io`. This file counts all calls that read or write, not only calls on files. */
void process_io_parse(const char *text, size_t size, struct process_io *out);

#endif

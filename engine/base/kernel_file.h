/* SPDX-License-Identifier: MIT */
/* Reads, writes and parses files of the Linux kernel (/proc, /sys, tracefs), natively and under Wine. */
#ifndef OPENPLA_KERNEL_FILE_H
#define OPENPLA_KERNEL_FILE_H

#include "engine/base/text.h"
#include "engine/base/wintypes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct kernel_file;
/* `path` in Unix form ("/proc/stat"). Fails with ERROR_FILE_NOT_FOUND's HRESULT if the file does not exist, and always
   on real Windows. */
HRESULT kernel_file_open(const char *path, struct kernel_file **out);
/* Reads the whole file again. The text is NUL-terminated and valid until the next read or close. Reading a file that no
   longer exists (because its process has exited) fails. */
HRESULT kernel_file_read(struct kernel_file *f, const char **text, size_t *size);
/* The same for a file that the kernel writes in one piece: the files of a process, and many files that do not list a
   large number of items. If a read does not fill the buffer, the file is complete, and no second read is needed. */
HRESULT kernel_file_read_piece(struct kernel_file *f, const char **text, size_t *size);
void kernel_file_close(struct kernel_file *f); /* NULL is allowed */
/* Reads a file once: its text, NUL-terminated, from memory_alloc, and unless `size` is NULL its length, which includes
   embedded NULs. NULL and 0 if kernel_file_open or kernel_file_read fails. */
HRESULT kernel_file_text(const char *path, char **text, size_t *size);
/* The number of files that one user of this API may keep open without leaving too few for others; at least 64. */
size_t kernel_file_share(void);
/* Calls `each` with the name of each entry, also of those that begin with a dot, until a call fails. */
HRESULT kernel_folder_each(const char *path, HRESULT (*each)(void *user, const char *name), void *user);
/* The names of the entries of a folder ("/sys/block"), without those that begin with a dot. */
HRESULT kernel_folder_names(const char *path, struct texts *names);
/* Calls `each` at least with the names that consist of `prefix` and as many more characters. Under Wine each further
   name costs microseconds. */
HRESULT kernel_folder_each_like(const char *path, const char *prefix, size_t more,
                                HRESULT (*each)(void *user, const char *name), void *user);
/* The numbers among the entry names of a folder (in "/proc" the process ids). *ids from memory_alloc. */
HRESULT kernel_folder_numbers(const char *path, uint32_t **ids, size_t *count);
/* Those from `low` to `high`. */
HRESULT kernel_folder_numbers_between(const char *path, uint32_t low, uint32_t high, uint32_t **ids, size_t *count);
/* Size and free space in bytes of the file system that contains the folder; only space that this user may use counts as
   free. */
HRESULT kernel_folder_space(const char *path, uint64_t *size, uint64_t *free);

/* ---- numbers, words and lines of kernel files ---- */

/* Skips blanks and tabs. */
static inline const char *kernel_skip(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    return p;
}

/* Reads a decimal number after blanks; values above 64 bits become the largest value. NULL: no digit follows. */
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

/* Writes the text in one call. ERROR_FILE_NOT_FOUND's HRESULT if the file does not exist, ERROR_ACCESS_DENIED's if this
   user may not write it, another failure if the kernel rejects the text. */
HRESULT kernel_control_write(const char *path, const char *text);
/* ERROR_ALREADY_EXISTS's HRESULT if the folder exists. */
HRESULT kernel_control_folder(const char *path);
/* Removes a folder that the kernel removes with all its contents, such as an instance of tracefs. S_OK if it does not
   exist. ERROR_BUSY's HRESULT: some process has a file in it open. */
HRESULT kernel_control_remove(const char *path);

/* Finds the trace_clock of which 100 ns are a tick of clock_ticks, with the same zero. */
const char *kernel_trace_clock(void);

struct kernel_stream;
HRESULT kernel_stream_open(const char *path, struct kernel_stream **out);
/* Reads the next `bytes` bytes; the kernel returns either all of them or none. S_FALSE: none is ready. Under Wine the
   call waits for them instead, so a caller that must not wait first queries the number of available bytes. */
HRESULT kernel_stream_read(struct kernel_stream *s, void *to, uint32_t bytes);
void kernel_stream_close(struct kernel_stream *s); /* NULL is allowed */

/* ---- /proc/<id> ---- */

struct process_stat {
    const char *name; /* in the text, not terminated */
    size_t name_length;
    char state; /* 'R', 'S' ...; 'Z': it has exited, and its parent has not yet waited for it */
    uint32_t parent, threads, flags;
    uint64_t user_ticks, kernel_ticks, start_ticks; /* in units of 10 ms; the start counts from the host's start */
    uint64_t faults;                                /* minor and major */
    uint64_t virtual_bytes, resident_pages;
};
/* In `flags`: a thread of the kernel. */
enum { PROCESS_OF_KERNEL = 0x00200000 };
/* Parses stat. False if the text is cut off or has another form. */
bool process_stat_parse(const char *text, size_t size, struct process_stat *out);

/* How long the first thread has run, in nanoseconds, and how many times. */
struct process_run_time {
    uint64_t ran, times;
};
/* Parses schedstat. False if the kernel does not count. */
bool process_run_time_parse(const char *text, size_t size, struct process_run_time *out);

/* Reads numbers by name; INT64_MIN for a missing one. */
struct process_status {
    int64_t virtual_peak, resident_peak, resident_private, swapped; /* bytes */
    int64_t switches;                                               /* context switches of the thread, voluntary or
                                                                       not */
};
/* Parses status. */
void process_status_parse(const char *text, size_t size, struct process_status *out);

struct process_io {
    int64_t reads, writes, read_bytes, written_bytes;
};
/* Parses io: all calls that read or write, on files or not. */
void process_io_parse(const char *text, size_t size, struct process_io *out);

#endif

/* SPDX-License-Identifier: MIT */
/* Processes, and the objects that they share: sections of memory, signals, mutexes. Names are plain ASCII without
   separators. The last part lists the Windows processes of a Wine prefix. */
#ifndef OPENPLA_PROCESS_H
#define OPENPLA_PROCESS_H

#include "engine/base/text.h"
#include "engine/base/wintypes.h"

/* An account under which a process can run. */
struct account {
    const char *name;
    void *token; /* a primary token of the account, borrowed; NULL: no token */
};
struct program {
    const char *path;
    const char *const *arguments; /* each passed as one argument, quoted as needed */
    size_t argument_count;
    const char *line; /* further arguments, which follow `arguments`, as a command line (command_line.h); NULL: none */
    const char *directory; /* current folder of the new process; NULL: this process's */
    bool console; /* the new process gets a console without a window; its child processes can write to this console */
    const char *security; /* SDDL: access rights to the new process; NULL: the default of this process's account */
    const struct account *account; /* NULL: the account of this process */
    /* Windows only: inheritable handles, which have the same values in the new process. */
    void *const *handles;
    size_t handle_count;
    /* Under Wine: if this process is killed while it creates the new process, the new process is terminated too.
       Without this option, the new process would stay suspended forever. The new process is in a job object, but its
       child processes are not. */
    bool is_whole_or_none;
};
struct process;
/* Starts the program without a shell, detached: it has no window and no inherited standard streams, and it is not
   terminated together with this process. Fails with E_INVALIDARG if the security descriptor is invalid, and with
   PLA_E_CREDENTIALS_REQUIRED if another account is requested without a token. The native build has no tokens, and
   ignores `security`. Under Wine the program can also be a Linux program. Wine does not report the end of a Linux
   program: process_id returns 0, and process_wait returns S_OK with the exit code 0 at once. */
HRESULT process_start(const struct program *program, struct process **out);
uint32_t process_id(const struct process *p);
/* Waits for the process to exit. S_OK: it has exited, and *exit_code is set (`exit_code` may be NULL); S_FALSE: it is
   still running after timeout_ms. */
HRESULT process_wait(struct process *p, uint32_t timeout_ms, uint32_t *exit_code);
void process_close(struct process *p); /* does not end the process */
/* Opens the process `id` that started at `start_time`, to wait for it. In the native build the exit code is 0 unless
   this process started that process. S_FALSE: the process has exited, and *out is NULL. */
HRESULT process_open(uint32_t id, uint64_t start_time, struct process **out);
uint32_t process_own_id(void);
/* Returns the SID of this process's account, for use in SDDL; "" in the native build. From memory_alloc; NULL:
   unknown. */
char *process_own_sid(void);
/* Returns the start time of a process in the system's units (FILETIME UTC, or any value that is unique per start); 0 if
   the process does not exist. The id and the start time together identify a process permanently. */
uint64_t process_start_time(uint32_t id);
/* Whether the process `id` that started at `start_time` is running. If this process may not open that process, the
   function searches the system's public list of processes. False for a start time of 0. */
bool process_alive(uint32_t id, uint64_t start_time);
/* Returns the path of the program that the process `id` with this start time runs, from memory_alloc. S_FALSE: the
   process has exited, and *path is NULL. */
HRESULT process_program(uint32_t id, uint64_t start_time, char **path);
/* Terminates the process `id` that started at `start_time` immediately. S_FALSE: it has exited. */
HRESULT process_terminate(uint32_t id, uint64_t start_time);

/* Whether the process `id` with this start time has a thread with this thread_own_id. */
bool process_has_thread(uint32_t id, uint64_t start_time, uint32_t thread);

/* Returns the path of the program `name` in this module's folder (for a 32-bit module, in the folder above). The path
   ends with ".exe" if a file with that ending exists. From memory_alloc; NULL: out of memory. */
char *program_beside_module(const char *name);

enum { SHARED_KEY_DIGITS = 32 };
/* Generates random hexadecimal digits that nobody can guess, for the names of shared objects. */
HRESULT shared_new_key(char key[SHARED_KEY_DIGITS + 1]);

/* The name of a shared object, and how it is opened. */
struct shared {
    const char *name;
    /* Create the object if it does not exist. Without `create`, opening a missing object fails with
       HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND). */
    bool create;
    /* SDDL with a DACL: the access rights of a newly created object; an existing object keeps its rights. NULL:
       PROTECTION_OBJECT. No effect in the native build, where only the current account has access. */
    const char *security;
    /* With `create`: the object must be new. If the object exists, the result is
       HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS). */
    bool fresh;
    /* The account that must own an existing object, in section_owner's form; an object of another account is rejected
       with E_ACCESSDENIED. NULL: any account (native build: always the current account). */
    const char *owner;
    /* For a section: it is stored in a file that belongs to this account (under Wine, to this account and this prefix).
       The section and its contents remain after all its processes have exited, until section_delete. In this case
       `security` and `owner` are ignored, because no other account has access. No effect on Windows. */
    bool lasting;
};
struct section;
/* Opens the named memory of `size` bytes; new memory is zero. The section exists as long as a process has it open.
   Fails with E_INVALIDARG if the security descriptor is invalid, or if an existing lasting section has fewer bytes. If
   there is not enough space for a new lasting section, creating it fails. A caller that sets `create` without `fresh`
   for a lasting section must hold a mutex. If another program shortens the file of a section, the next access restores
   its size; the lost part is zero. */
HRESULT section_open(const struct shared *what, size_t size, struct section **out);
void *section_memory(struct section *s);
/* Returns the account that owns the section, from memory_alloc: the string of a SID; in the native build a number.
   Under Wine the owner of a section that was created without a descriptor is "none". */
HRESULT section_owner(struct section *s, char **owner);
void section_close(struct section *s); /* NULL is allowed */
/* Removes the name of a lasting section. Processes that have the section open keep it (under Wine, the name remains
   until they close it). S_FALSE: it did not exist. */
HRESULT section_delete(const char *name);
/* Whether the section that was opened under this name still has the name. S_FALSE: it was deleted, or another section
   now has the name. A section that is not lasting keeps its name as long as it is open. */
HRESULT section_is_named(struct section *s, const char *name);

/* Returns the path of the folder that contains all lasting sections (native build: all named objects), from
   memory_alloc. Creates the folder if it is missing. S_FALSE: this host OS (Windows) has no such folder, and *out is
   NULL. */
HRESULT section_folder(char **out);
/* Under Wine: if other Wine prefixes were deleted, deletes the folders that contain their lasting sections. Such a
   folder would otherwise occupy memory until the host OS restarts. No effect in the native build and on Windows. */
void sections_sweep(void);

struct signal; /* auto-reset, named */
HRESULT signal_open(const struct shared *what, struct signal **out);
HRESULT signal_set(struct signal *e);
/* Waits for the signal. S_OK: the signal was set; S_FALSE: timeout. */
HRESULT signal_wait(struct signal *e, uint32_t timeout_ms);
/* S_OK: the signal was set; S_FALSE: timeout; E_ABORT: the process ended first. */
HRESULT signal_wait_or_process(struct signal *e, struct process *p, uint32_t timeout_ms);
/* Waits for the signal or for one of up to SIGNAL_PROCESSES processes. E_ABORT: a process has exited, and *ended is its
   index; no error text is set. */
HRESULT signal_wait_or_processes(struct signal *e, struct process *const *p, size_t count, uint32_t timeout_ms,
                                 size_t *ended);
#define SIGNAL_PROCESSES 64
void signal_close(struct signal *e);

/* Mutual exclusion between threads, including threads of different processes. If the holder exits, the mutex is
   released. In the native build it works only between processes of the current account. Not recursive. */
struct mutex;
HRESULT mutex_open(const char *name, struct mutex **out); /* created if it does not exist */
/* S_OK: this thread holds it; S_FALSE: another thread held it for timeout_ms (UINT32_MAX: no limit). */
HRESULT mutex_take(struct mutex *m, uint32_t timeout_ms);
void mutex_release(struct mutex *m); /* only the thread that holds the mutex may call it */
void mutex_close(struct mutex *m);   /* NULL is allowed */

/* ---- the Windows processes of this Wine prefix and their threads ----
   For code that has only the Linux ids of processes and threads. In the native build the list is empty. */

/* A thread, by Windows' ids. */
struct windows_thread {
    uint32_t process, id;
};
/* Lists the threads that run now. *out is from memory_alloc. */
HRESULT windows_threads(struct windows_thread **out, size_t *count);
/* Returns a number that changes when processes or threads start or end, unless as many have started as have ended since
   the previous call. A call takes microseconds. */
uint32_t windows_threads_mark(void);
/* Makes Wine's server reveal the thread's Linux id: sets the thread's affinity to the processors that it already has,
   so that the server calls sched_setaffinity with that id. The server's call takes place between *from and *to, which
   are values of clock_ticks. S_FALSE: the thread has exited, or access is denied. */
HRESULT windows_thread_show(const struct windows_thread *thread, uint64_t *from, uint64_t *to);

enum { WINDOWS_MOST_SID = 68 };
struct windows_process {
    uint8_t sid[WINDOWS_MOST_SID]; /* SID of the process's user */
    size_t sid_size;               /* 0: unknown */
    uint32_t session;
    bool is_wow64; /* it runs a 32-bit program */
};
/* Reads the properties of a Windows process. S_FALSE: it has exited, or access is denied. */
HRESULT windows_process_read(uint32_t id, struct windows_process *out);

#endif

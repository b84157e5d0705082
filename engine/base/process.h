/* SPDX-License-Identifier: MIT */
/* Processes, and what they share: sections of memory, signals, mutexes. Names are plain ASCII without separators. Also
   the Windows processes of a Wine prefix. */
#ifndef OPENPLA_PROCESS_H
#define OPENPLA_PROCESS_H

#include "engine/base/text.h"
#include "engine/base/wintypes.h"

/* An account that a process may run under. */
struct account {
    const char *name;
    void *token; /* a primary token of it, borrowed; NULL: no token */
};
struct program {
    const char *path;
    const char *const *arguments; /* each passed as one argument, quoted as needed */
    size_t argument_count;
    const char *line;              /* more arguments, as a command line (command_line.h), behind them; NULL: none */
    const char *directory;         /* that it starts in; NULL: ours */
    bool console;                  /* what it starts may write to a console, which has no window */
    const char *security;          /* SDDL: who may do what to the process; NULL: the default of who starts it */
    const struct account *account; /* NULL: that of who starts it */
};
struct process;
/* Starts the program, by no shell, detached: no window, no inherited standard streams, not ended with its starter.
   E_INVALIDARG for what is no security descriptor; PLA_E_CREDENTIALS_REQUIRED for another account without a token.
   Natively there are no tokens, and `security` has no effect. */
HRESULT process_start(const struct program *program, struct process **out);
uint32_t process_id(const struct process *p);
/* S_OK: it has ended (*exit_code set, may be NULL); S_FALSE: still running after timeout_ms. */
HRESULT process_wait(struct process *p, uint32_t timeout_ms, uint32_t *exit_code);
void process_close(struct process *p); /* does not end it */
/* The process `id` that started at `start_time` and still lives, for waits; natively its exit code is 0 unless this
   process has started it. S_FALSE, and NULL: it does not live. */
HRESULT process_open(uint32_t id, uint64_t start_time, struct process **out);
uint32_t process_own_id(void);
/* The SID of this process' account, for SDDL; natively "". From memory_alloc; NULL: unknown. */
char *process_own_sid(void);
/* Start time of a process as the system has it (FILETIME UTC or any value unique per start), 0 if the process does not
   exist. With the id it names one process for ever. */
uint64_t process_start_time(uint32_t id);
/* True while the process `id` that started at `start_time` lives; if we may not open it, by what the
   system shows everybody. False for a start time of 0. */
bool process_alive(uint32_t id, uint64_t start_time);
/* Path of the program that the living process `id` of that start time runs, from memory_alloc. S_FALSE, and NULL: it
   does not live. */
HRESULT process_program(uint32_t id, uint64_t start_time, char **path);
/* Ends the process `id` that started at `start_time`, as it stands. S_FALSE: it does not live. */
HRESULT process_terminate(uint32_t id, uint64_t start_time);

/* True while the living process `id` of that start time has a thread of this thread_own_id. */
bool process_has_thread(uint32_t id, uint64_t start_time, uint32_t thread);

/* Path of the program of this name that lies beside our module, of a 32-bit one in the folder above: with ".exe" if
   there is one, else without. From memory_alloc; NULL: out of memory. */
char *program_beside_module(const char *name);

enum { SHARED_KEY_DIGITS = 32 };
/* Hexadecimal digits that nobody can guess, for names of what processes share. */
HRESULT shared_new_key(char key[SHARED_KEY_DIGITS + 1]);

/* A name that processes share, and how it is opened. */
struct shared {
    const char *name;
    bool create; /* created if it does not exist; else it must exist: HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND) */
    /* SDDL with a DACL: who may open what is created; an existing object keeps its own. NULL:
       PROTECTION_OBJECT. Natively without effect: only the own account may. */
    const char *security;
    /* With `create`: it must not exist, else HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS). */
    bool fresh;
    /* As section_owner returned it: an object of another account is refused, E_ACCESSDENIED. NULL: any owner
       (natively only the own account's ever is). */
    const char *owner;
    /* Of a section: it lies in a file of this account's (under Wine: and of its prefix's), and stays with all that is
       in it when all its processes have ended, until section_delete. `security` and `owner` are ignored then: no
       other account may. On Windows without effect. */
    bool lasting;
};
struct section;
/* The named memory of `size` bytes, zero when new. It exists as long as one process holds it. E_INVALIDARG for what is
   no security descriptor, and where a lasting one has fewer bytes. The room of a lasting one is there when it is made,
   or it fails; who makes one with `create` that is not `fresh` does so under a mutex. One in a file whose file another
   program shortens is as long again at its next use, and zero from there on. */
HRESULT section_open(const struct shared *what, size_t size, struct section **out);
void *section_memory(struct section *s);
/* The account that the section belongs to, from memory_alloc: the text of a SID, natively a number. Under Wine "none"
   for a section that was made without a descriptor, so it tells few apart there. */
HRESULT section_owner(struct section *s, char **owner);
void section_close(struct section *s); /* NULL is allowed */
/* A lasting section has no name any more; who holds it keeps it (under Wine it keeps the name so long). S_FALSE: it
   did not exist. */
HRESULT section_delete(const char *name);
/* Whether the section that was opened by this name has it still. S_FALSE: it was deleted, or another one has the name
   now. One that is not lasting has it as long as it is open. */
HRESULT section_is_named(struct section *s, const char *name);

/* The folder that lasting sections lie in, natively all that has a name here; made if need be. From memory_alloc.
   S_FALSE, and NULL: none (on Windows). */
HRESULT section_folder(char **out);

struct signal; /* auto-reset, named */
HRESULT signal_open(const struct shared *what, struct signal **out);
HRESULT signal_set(struct signal *e);
/* S_OK: it was set; S_FALSE: timeout. */
HRESULT signal_wait(struct signal *e, uint32_t timeout_ms);
/* S_OK: the signal was set; S_FALSE: timeout; E_ABORT: the process ended first. */
HRESULT signal_wait_or_process(struct signal *e, struct process *p, uint32_t timeout_ms);
/* The same with up to SIGNAL_PROCESSES of them; E_ABORT has no text, and *ended tells which. */
HRESULT signal_wait_or_processes(struct signal *e, struct process *const *p, size_t count, uint32_t timeout_ms,
                                 size_t *ended);
#define SIGNAL_PROCESSES 64
void signal_close(struct signal *e);

/* Exclusion between threads, of this process and of others: who ends while he has it has it no longer. Natively under
   the own account alone. Not to be taken again by the thread that has it. */
struct mutex;
HRESULT mutex_open(const char *name, struct mutex **out); /* created if it does not exist */
/* S_OK: this thread has it; S_FALSE: another had it for timeout_ms (UINT32_MAX: for ever). */
HRESULT mutex_take(struct mutex *m, uint32_t timeout_ms);
void mutex_release(struct mutex *m); /* by the thread that has it */
void mutex_close(struct mutex *m);   /* NULL is allowed */

/* ---- the Windows processes of this Wine prefix and their threads ----
   Code that knows only the numbers of Linux asks for them. Natively it has none. */

/* A thread by Windows' numbers. */
struct windows_thread {
    uint32_t process, id;
};
/* Those that run now. *out from memory_alloc. */
HRESULT windows_threads(struct windows_thread **out, size_t *count);
/* A number that is another one when processes or threads have come or gone, unless as many came as went; it costs
   microseconds. */
uint32_t windows_threads_mark(void);
/* The thread gets the processors that it has, for which Wine's server calls sched_setaffinity with its Linux number,
   between the two times in ticks of clock_ticks. S_FALSE: it has gone, or is closed to us. */
HRESULT windows_thread_show(const struct windows_thread *thread, uint64_t *from, uint64_t *to);

enum { WINDOWS_MOST_SID = 68 };
struct windows_process {
    uint8_t sid[WINDOWS_MOST_SID]; /* of its user */
    size_t sid_size;               /* 0: it is not told */
    uint32_t session;
    bool is_wow64; /* a program of 32 bits */
};
/* S_FALSE: it has gone, or is closed to us. */
HRESULT windows_process_read(uint32_t id, struct windows_process *out);

#endif

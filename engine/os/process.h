/* SPDX-License-Identifier: MIT */
/* Processes, shared sections and named signals, for the run layer. Names are plain ASCII without separators. */
#ifndef OPENPLA_PROCESS_H
#define OPENPLA_PROCESS_H

#include "engine/os/text.h"

/* An account that a process may run under. */
struct account {
    const char *name;
    void *token; /* a primary token of it, borrowed; NULL: there is none */
};
struct program {
    const char *path;
    const char *const *arguments; /* each passed as one argument, quoted as needed */
    size_t argument_count;
    const char *security;          /* SDDL: who may do what to the process; NULL: the default of who starts it */
    const struct account *account; /* NULL: that of who starts it */
};
struct process;
/* Starts the program detached: no window, no inherited standard streams, not ended with its starter. E_INVALIDARG for
   what is no security descriptor; PLA_E_CREDENTIALS_REQUIRED for another account without a token. Natively there are no
   tokens, and `security` has no effect. */
HRESULT process_start(const struct program *program, struct process **out);
uint32_t process_id(const struct process *p);
/* S_OK: it has ended (*exit_code set, may be NULL); S_FALSE: still running after timeout_ms. */
HRESULT process_wait(struct process *p, uint32_t timeout_ms, uint32_t *exit_code);
void process_close(struct process *p); /* does not end it */
uint32_t process_own_id(void);
/* The SID of this process' account, for SDDL; natively "". From memory_alloc; NULL: it cannot be told. */
char *process_own_sid(void);
/* Start time of a process as the system tells it (FILETIME UTC or any value unique per start), 0 when there is none:
   with the id it names one process for ever. */
uint64_t process_start_time(uint32_t id);
/* True while the process `id` that started at `start_time` lives; of one that we may not look at, by what the system
   tells everybody. A start time of 0 is nobody's. */
bool process_alive(uint32_t id, uint64_t start_time);
/* Path of the program that the living process `id` of that start time runs, from memory_alloc. S_FALSE, and NULL: it
   does not live. */
HRESULT process_program(uint32_t id, uint64_t start_time, char **path);
/* Ends the process `id` that started at `start_time`, as it stands. S_FALSE: it does not live. */
HRESULT process_terminate(uint32_t id, uint64_t start_time);

/* A name that processes share, and how it is opened. */
struct shared {
    const char *name;
    bool create; /* made if it is not there; else it must be: HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND) */
    /* SDDL with a DACL: who may open what is made; of what is there already it changes nothing. NULL: the default of
       who makes it. Natively without effect: only the own account may. */
    const char *security;
    /* With `create`: it must be made. Who finds it made by another gets HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS). */
    bool fresh;
    /* As section_owner told it: what belongs to another account is refused, E_ACCESSDENIED. NULL: anybody's is taken
       (natively only the own account's ever is). */
    const char *owner;
};
struct section;
/* The named memory of `size` bytes, zero when new. It exists as long as one process holds it. E_INVALIDARG for what is
   no security descriptor. */
HRESULT section_open(const struct shared *what, size_t size, struct section **out);
void *section_memory(struct section *s);
/* The account that the section belongs to, from memory_alloc: the text of a SID, natively a number. Under Wine "none"
   for a section that was made without a descriptor, so it tells few apart there. */
HRESULT section_owner(struct section *s, char **owner);
void section_close(struct section *s); /* NULL is allowed */

struct signal; /* auto-reset, named */
HRESULT signal_open(const struct shared *what, struct signal **out);
HRESULT signal_set(struct signal *e);
/* S_OK: it was set; S_FALSE: timeout. */
HRESULT signal_wait(struct signal *e, uint32_t timeout_ms);
/* S_OK: the signal was set; S_FALSE: timeout; E_ABORT: the process ended first. */
HRESULT signal_wait_or_process(struct signal *e, struct process *p, uint32_t timeout_ms);
void signal_close(struct signal *e);

#endif

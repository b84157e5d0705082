/* SPDX-License-Identifier: MIT */
/* What lies in the section of the directory. Any process of the account may end at any instruction, and may write
   anything here: words are loaded once, what is copied is checked before it is used, and no loop is longer than the
   bounds below, which are compiled in.

   Sessions and enables are records with two revisions: `from` when one begins to hold, `until` when it ends (0:
   never). A change works at the odd revision G + 1: it writes records that hold from G + 2 into places that nobody
   sees, and gives those it ends an `until` of G + 2. Its end, the store of G + 2, makes all of it true at once. Who
   finds an odd revision and has the mutex takes back what is of G + 2: the one who began it has ended.
   A reader looks with the even revision that is, and what it sees stays where it is until the second change from
   then begins.

   The file may be overwritten or shortened by hand (mapped_file.h: what was cut off reads as zeros). Three words tell:
   `magic` and `size` at the beginning, and `tail` at the end, which no file that was shortened has. Who opens the
   directory or begins a change checks them under the mutex. One wrong word of the first two is put right, as what else
   lies here is checked where it is read; otherwise all is begun anew in place, with another `born`, by which a host
   sees that nobody can find its session any more, and a provider that it has to register again. */
#ifndef OPENPLA_DIRECTORY_LAYOUT_H
#define OPENPLA_DIRECTORY_LAYOUT_H

#include "engine/base/host.h"
#include "engine/etw/directory.h"
#include "engine/etw/session/session_buffers.h"

#include <string.h>

enum {
    DIRECTORY_LAYOUT = 7, /* in the section's name: another layout never meets this one */
    DIRECTORY_TEXT_BYTES = DIRECTORY_TEXT * 3,
    DIRECTORY_NO_TEXT = 0xFFFFFFFF,
    DIRECTORY_SLOTS = SESSION_MOST_OWNERS + 1, /* slot 0 is nobody's */
    ARENA_UNIT = 64,
    ARENA_UNITS = 16384,
};
#define DIRECTORY_MAGIC UINT64_C(0x3152494457544550) /* "PETWDIR1" */

/* ---- payloads, as they are copied ---- */

struct session_payload {
    uint32_t logger, generation; /* the first word */
    uint32_t state, clock;
    GUID guid;
    uint64_t host_start, starter_start, section_size, thread;
    int64_t started;
    uint32_t host_id, starter_id;
    uint32_t kernel, mode, buffer_kb, minimum_buffers, maximum_buffers, maximum_file, flush_timer, flush_ms;
    uint32_t enable_flags[8];
    struct directory_kernel lists;
    char section[64], signal[64];
    uint32_t name_bytes, file_bytes; /* DIRECTORY_NO_TEXT: none */
    uint32_t disallowed_count, reserved;
    GUID disallowed[DIRECTORY_DISALLOWED];
    uint32_t whole, whole_generation, named, reserved_2;
    struct directory_totals ended;
    struct directory_scope scope;
    char name[DIRECTORY_TEXT_BYTES], file[DIRECTORY_TEXT_BYTES];
};
struct enable_payload {
    GUID provider, source;
    uint32_t logger, generation;
    uint64_t serial, captures, any, all;
    uint32_t property;
    uint8_t level, classic;
    uint16_t filter_count;
    uint32_t filter_at; /* unit of the arena: for each filter type and size, then the bytes of each, rounded up to 8 */
    uint32_t filter_bytes;
    uint64_t reserved[3];
};
struct name_payload {
    GUID provider;
    char name[DIRECTORY_PROVIDER_NAME_ROOM];
};
struct request_payload {
    uint64_t process_start, until_ms; /* who asks, and when he asks no more */
    uint32_t process_id, verb;
    uint32_t mode, maximum_buffers, flush_timer, flags_given;
    uint32_t enable_flags[8];
    uint32_t list, item_count;
    uint32_t file_bytes, reserved; /* DIRECTORY_NO_TEXT: none */
    union {
        char file[DIRECTORY_TEXT_BYTES];
        uint32_t items[DIRECTORY_STACK_EVENTS]; /* of DIRECTORY_SET_LIST, which names no file */
    };
};

/* ---- what lies there ---- */

struct directory_span {
    _Atomic uint64_t from, until;
};
struct session_record {
    struct directory_span span;
    _Atomic uint64_t words[sizeof(struct session_payload) / 8];
};
struct enable_record {
    struct directory_span span;
    _Atomic uint64_t words[sizeof(struct enable_payload) / 8];
};
/* state 2, kind 2, slot 12, slot's generation 16, sequence 32 */
struct registration_record {
    _Atomic uint64_t word;
    _Atomic uint64_t guid[2];
    uint64_t reserved;
};
/* word: state 2, generation 16 */
struct slot_record {
    _Atomic uint64_t word;
    _Atomic uint64_t id, start_time;
    _Atomic uint64_t dead_at; /* clock_monotonic_ms when it was seen, of one that is dead */
    _Atomic uint64_t listens; /* the generation whose process has a signal, and 1 << 16 */
    _Atomic uint64_t applied;
    uint64_t reserved[2];
};
/* word: state 3, number 61 */
struct mailbox_record {
    _Atomic uint64_t word, answer;
    _Atomic uint64_t words[sizeof(struct request_payload) / 8];
};
struct name_record {
    _Atomic uint64_t check; /* of the words; 0: nothing is here */
    _Atomic uint64_t words[sizeof(struct name_payload) / 8];
};
struct directory_shared {
    _Atomic uint64_t magic; /* last of all */
    _Atomic uint64_t size;
    _Atomic uint64_t profile_100ns; /* 0: nobody has set it */
    _Atomic uint64_t born;          /* ms, UTC, when it was begun; never the same twice */
    uint64_t reserved_1[12];
    _Atomic uint64_t revision;
    _Atomic uint64_t notified;                                     /* the newest revision that all were woken for */
    _Atomic uint64_t enables_used, registrations_used, slots_used; /* none is behind these */
    _Atomic uint64_t registration_hint;                            /* where one may be free */
    _Atomic uint64_t slot_hand;                                    /* which slot is looked at next */
    _Atomic uint64_t serial;
    _Atomic uint64_t names_given; /* so far */
    _Atomic uint64_t deleted;     /* directory_delete was called */
    uint64_t reserved_2[6];
    _Atomic uint64_t sequence;
    uint64_t reserved_3[15];
    _Atomic uint64_t event_key;
    uint64_t reserved_4[15];
    _Atomic uint64_t generation[DIRECTORY_PLACES];
    _Atomic uint64_t reaped[DIRECTORY_SESSIONS]; /* parts name no slots but their processes' */
    struct mailbox_record mailbox[DIRECTORY_PLACES];
    struct slot_record slot[DIRECTORY_SLOTS];
    struct registration_record registration[DIRECTORY_REGISTRATIONS];
    struct session_record session[DIRECTORY_PLACES][2]; /* the one that holds, and the one that will */
    struct enable_record enable[DIRECTORY_ENABLES];
    _Atomic uint64_t arena[ARENA_UNITS][ARENA_UNIT / 8];
    struct name_record name[DIRECTORY_PROVIDER_NAMES];
    _Atomic uint64_t tail; /* DIRECTORY_MAGIC */
    uint64_t reserved_5[7];
};
_Static_assert(sizeof(struct session_payload) % 8 == 0 && sizeof(struct enable_payload) == 112 &&
                   sizeof(struct enable_record) == 128 && sizeof(struct request_payload) % 8 == 0,
               "payloads are words");
_Static_assert(sizeof(struct directory_kernel) == 568, "the same for programs of 32 and 64 bits");
_Static_assert(sizeof(struct slot_record) == 64 && sizeof(struct registration_record) == 32 &&
                   sizeof(struct name_record) == 256,
               "whole lines");
_Static_assert(offsetof(struct directory_shared, revision) == 128 &&
                   offsetof(struct directory_shared, sequence) == 256 &&
                   offsetof(struct directory_shared, event_key) == 384 &&
                   offsetof(struct directory_shared, generation) == 512,
               "apart by 128 bytes");
_Static_assert(offsetof(struct session_payload, state) == 8, "the second word");

/* Payloads go word by word: who reads while another writes gets a mixture, which the revision tells, and no more. */
static inline void directory_store(_Atomic uint64_t *to, const void *from, size_t bytes)
{
    for (size_t i = 0; i < bytes / 8; i++) {
        uint64_t word;
        memcpy(&word, (const uint8_t *)from + 8 * i, 8);
        atomic_store_explicit(&to[i], word, memory_order_release);
    }
}
static inline void directory_load(void *to, _Atomic uint64_t *from, size_t bytes)
{
    for (size_t i = 0; i < bytes / 8; i++) {
        const uint64_t word = atomic_load_explicit(&from[i], memory_order_acquire);
        memcpy((uint8_t *)to + 8 * i, &word, 8);
    }
}
static inline uint32_t directory_load_limited(_Atomic uint64_t *word, uint32_t most)
{
    const uint64_t value = atomic_load(word);
    return value < most ? (uint32_t)value : most;
}
/* What rises only. */
static inline void directory_raise(_Atomic uint64_t *word, uint64_t to)
{
    uint64_t was = atomic_load(word);
    while (was < to && !atomic_compare_exchange_weak(word, &was, to))
        ;
}

/* ---- as a process has it ---- */

struct directory {
    struct section *section;
    struct mutex *mutex;
    struct directory_shared *shared;
    uint64_t committed, target; /* of the change; whose thread alone uses them */
    struct host_lock lock;      /* for what follows */
    _Atomic uint32_t slot;      /* of this process; 0: none yet */
    uint32_t slot_generation;
    _Atomic uint64_t slot_born; /* the directory's, when the slot was taken; set behind the slot */
    struct signal *own_signal;
    struct signal **old_signals; /* of slots before the directory was begun anew: somebody may be about to set them */
    size_t old_count, old_capacity;
    char name[64];
    struct directory *before; /* one that was deleted */
};

/* ---- directory.c ---- */

/* Calls `read` with a revision whose records stay as they are while it runs; again, and in the end under the mutex,
   if they did not. It begins afresh each time. */
HRESULT directory_read(struct directory *d, HRESULT (*read)(struct directory *d, uint64_t revision, void *context),
                       void *context);
/* A record holds at this revision. */
bool directory_holds(struct directory_span *span, uint64_t revision);
/* In a change: nobody sees the record, nor will. */
bool directory_is_free(struct directory *d, struct directory_span *span);
/* In a change: writes a record that holds from its end on, or ends one with it. */
void directory_put(struct directory *d, struct directory_span *span, _Atomic uint64_t *words, const void *payload,
                   size_t bytes);
void directory_retire(struct directory *d, struct directory_span *span);

/* "name" of the directory and what else, as names of sections and signals are. */
void directory_object_name(const struct directory *d, char kind, uint32_t number, uint32_t generation, char out[96]);
/* Sets the signal of this name, if there is one. */
void directory_set_signal(const char *name);

/* A text of at most DIRECTORY_TEXT units; the HRESULT of `code` with its subject else. NULL becomes none. */
HRESULT directory_put_text(char *to, uint32_t *bytes, const char *text, DWORD code, const char *subject);
/* Back, from memory_alloc. S_FALSE: what is there is no text. */
HRESULT directory_take_text(const char *from, uint32_t bytes, char **out);

/* ---- directory_sessions.c ---- */

/* The session of this logger and generation (0: any) that holds at the revision; NULL: there is none. */
struct session_record *directory_find_session(struct directory *d, uint32_t logger, uint32_t generation,
                                              uint64_t revision);
/* State and generation of it, without the rest. 0: there is none of that generation. */
uint32_t directory_session_state(struct directory *d, uint32_t logger, uint32_t generation, uint64_t revision);
/* The name of a session for texts of errors; from memory_alloc, NULL: out of memory. */
char *directory_session_name(struct session_record *record);

/* ---- directory_enables.c ---- */

/* In a change: all enables of a session end. *providers, from memory_alloc, each once. */
HRESULT directory_enables_end(struct directory *d, uint32_t logger, uint32_t generation, GUID **providers,
                              size_t *count);

/* ---- directory_processes.c ---- */

enum { SLOT_FREE, SLOT_LIVE, SLOT_DEAD };
static inline uint32_t slot_state(uint64_t word)
{
    return (uint32_t)(word & 3);
}
static inline uint32_t slot_generation(uint64_t word)
{
    return (uint32_t)(word >> 2 & 0xFFFF);
}
static inline uint64_t slot_word(uint32_t state, uint32_t generation)
{
    return state | (uint64_t)(generation & 0xFFFF) << 2;
}
/* Wakes those that listen and have registered one of the providers (NULL: all that listen). */
void directory_wake(struct directory *d, const GUID *providers, size_t count);

#endif

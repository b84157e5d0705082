/* SPDX-License-Identifier: MIT */
/* The section of the directory, which all processes of a host OS (under Wine: of a prefix) share.

   The problem. Sessions, enable records and registrations outlive the processes that created them. Any process may be
   killed at any instruction, even in the middle of a change. Readers must neither wait for a killed process nor see
   half of its change. In addition, any process of the account may write anything here.

   The layout, in a section over a file:

     magic, size, born              mark and size of a directory; the time of its creation
     revision, notified, ...        the state of changes; the ends of the used parts of the arrays
     generation[]                   per logger: its newest generation
     reaped[]                       per logger: its session refers to no process that exited before this time
     mailbox[]                      per logger: one request of a controller to the session's host process
     slot[]                         per process: id, start time, state, generation, the revision that it has applied
     registration[]                 per registered provider: GUID, kind, slot and generation of the process
     session[][2]                   per logger: two records, of which at most one is valid at a revision
     enable[], arena                which session enables which provider, with its settings; the bytes of the filters
     name[]                         names that providers gave themselves
     tail                           the last word, which a shortened file does not have

   Who writes what. The mutex protects `revision`, sessions, enable records, the arena and the states of slots. Without
   the mutex, a process writes its registrations and the `listens` and `applied` words of its slot; a host process
   writes its `reaped` word and the answers in its mailbox; and a controller withdraws its request.

   One-store commit. Session records and enable records have a span: `from` is the first revision at which a record is
   valid, and `until` the first at which it is no longer valid (0: no end). Committed revisions are even. A change from
   G works as follows:

     revision = G + 1       a change is in progress
     new records            written with from = G + 2 into places where no record is valid at G or later
     old records            until = G + 2
     revision = G + 2       this one store commits the whole change

   Readers. A reader takes the even revision R and reads the records that are valid at R. The records stay in place
   until a change from R + 2 begins, because before this change no place with until = R + 2 may be reused. If `revision`
   is at most R + 2 after the reading, everything that the reader has read belongs to R. Otherwise the reader repeats
   the reading, and after many failed attempts it reads under the mutex (directory_read).

   What a crash leaves. A process that is killed during a change leaves an odd revision. The next process that takes the
   mutex undoes the change (directory_roll_back): new records get from = 0, and ended records get until = 0. A process
   killed after the commit may not have notified other processes: in this case `notified` is less than the revision, and
   the next change notifies every process. Slots of dead processes are reaped: their registrations become free, and so
   does the slot itself when no session can still refer to it in a buffer. A generation counts the uses of a logger or
   slot, so a late reader never mistakes the new user for the old one.

   Corruption. The file may be overwritten or truncated (mapped_file.h: the missing part then reads as zeros). `magic`,
   `size` and `tail` are checked under the mutex when the directory is opened and when a change begins. If only `magic`
   or `size` is wrong, it is repaired; all other words are checked where they are read. Otherwise the directory is reset
   in place with a new `born`. This tells host processes that their sessions can no longer be found, and event providers
   that they must register again.

   Trust. Each word is loaded once, copied data are checked before use, and no loop exceeds the limits below. */
#ifndef OPENPLA_DIRECTORY_LAYOUT_H
#define OPENPLA_DIRECTORY_LAYOUT_H

#include "engine/base/os.h"
#include "engine/etw/directory.h"
#include "engine/etw/session/session_buffers.h"

#include <string.h>

enum {
    DIRECTORY_LAYOUT = 7, /* part of the section's name: different layouts never share a section */
    DIRECTORY_TEXT_BYTES = DIRECTORY_TEXT * 3,
    DIRECTORY_NO_TEXT = 0xFFFFFFFF,
    DIRECTORY_SLOTS = SESSION_MOST_OWNERS + 1, /* slot 0 is never assigned */
    ARENA_UNIT = 64,
    ARENA_UNITS = 16384,
};
#define DIRECTORY_MAGIC UINT64_C(0x3152494457544550) /* "PETWDIR1" */

/* ---- payloads, as copied out of the records ---- */

struct session_payload {
    uint32_t logger, generation; /* these two members are the first word of the record */
    uint32_t state, clock;
    GUID guid;
    uint64_t host_start, starter_start, section_size, thread;
    int64_t started;
    uint32_t host_id, starter_id;
    uint32_t kernel, mode, buffer_kb, minimum_buffers, maximum_buffers, maximum_file, flush_timer, flush_ms;
    uint32_t enable_flags[8];
    struct directory_kernel lists;
    char section[64], signal[64];
    uint32_t name_bytes, file_bytes; /* DIRECTORY_NO_TEXT: the text is missing */
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
    /* First unit of the filters in the arena. The types and sizes of all filters come first. Then comes the data of
       each filter, padded to a multiple of 8 bytes. */
    uint32_t filter_at;
    uint32_t filter_bytes;
    uint64_t reserved[3];
};
struct name_payload {
    GUID provider;
    char name[DIRECTORY_PROVIDER_NAME_ROOM];
};
struct request_payload {
    uint64_t process_start, until_ms; /* start time of the requesting process, and the time at which it stops waiting */
    uint32_t process_id, verb;
    uint32_t mode, maximum_buffers, flush_timer, flags_given;
    uint32_t enable_flags[8];
    uint32_t list, item_count;
    uint32_t file_bytes, reserved; /* DIRECTORY_NO_TEXT: no file */
    union {
        char file[DIRECTORY_TEXT_BYTES];
        uint32_t items[DIRECTORY_STACK_EVENTS]; /* for a DIRECTORY_SET_LIST request, which has no file */
    };
};

/* ---- the records in the section ---- */

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
/* `word` contains the state (2 bits), the kind (2), the slot (12), the slot's generation (16) and a sequence number
   (32). */
struct registration_record {
    _Atomic uint64_t word;
    _Atomic uint64_t guid[2];
    uint64_t reserved;
};
/* `word` contains the state (2 bits) and the generation (16 bits). */
struct slot_record {
    _Atomic uint64_t word;
    _Atomic uint64_t id, start_time;
    _Atomic uint64_t dead_at; /* clock_monotonic_ms at which the process was found dead */
    _Atomic uint64_t listens; /* LISTENS | generation of the slot, if its process has a signal */
    _Atomic uint64_t applied;
    uint64_t reserved[2];
};
/* `word` contains the state (3 bits) and the number of the request (61 bits). */
struct mailbox_record {
    _Atomic uint64_t word, answer;
    _Atomic uint64_t words[sizeof(struct request_payload) / 8];
};
struct name_record {
    _Atomic uint64_t check; /* checksum of the words; 0: unused */
    _Atomic uint64_t words[sizeof(struct name_payload) / 8];
};
struct directory_shared {
    _Atomic uint64_t magic; /* set last */
    _Atomic uint64_t size;
    _Atomic uint64_t profile_100ns; /* 0: not set */
    _Atomic uint64_t born;          /* when the directory was created or reset: ms, UTC; never the same twice */
    uint64_t reserved_1[12];
    _Atomic uint64_t revision;
    _Atomic uint64_t notified; /* the newest revision of which every process was notified */
    _Atomic uint64_t enables_used, registrations_used, slots_used; /* all entries in use have lower indexes */
    _Atomic uint64_t registration_hint; /* index at which the search for a free entry begins */
    _Atomic uint64_t slot_hand;         /* the slot to check next */
    _Atomic uint64_t serial;
    _Atomic uint64_t names_given; /* number of names stored so far */
    _Atomic uint64_t deleted;     /* directory_delete was called */
    uint64_t reserved_2[6];
    _Atomic uint64_t sequence;
    uint64_t reserved_3[15];
    _Atomic uint64_t event_key;
    uint64_t reserved_4[15];
    _Atomic uint64_t generation[DIRECTORY_PLACES];
    _Atomic uint64_t reaped[DIRECTORY_SESSIONS]; /* not needed for private sessions: a part refers only to the slot of
                                                    its process */
    struct mailbox_record mailbox[DIRECTORY_PLACES];
    struct slot_record slot[DIRECTORY_SLOTS];
    struct registration_record registration[DIRECTORY_REGISTRATIONS];
    struct session_record session[DIRECTORY_PLACES][2]; /* at most one record of a pair is valid; the next change writes
                                                           to the other one */
    struct enable_record enable[DIRECTORY_ENABLES];
    _Atomic uint64_t arena[ARENA_UNITS][ARENA_UNIT / 8];
    struct name_record name[DIRECTORY_PROVIDER_NAMES];
    _Atomic uint64_t tail; /* DIRECTORY_MAGIC */
    uint64_t reserved_5[7];
};
_Static_assert(sizeof(struct session_payload) % 8 == 0 && sizeof(struct enable_payload) == 112 &&
                   sizeof(struct enable_record) == 128 && sizeof(struct request_payload) % 8 == 0,
               "payloads consist of 64-bit words");
_Static_assert(sizeof(struct directory_kernel) == 568, "the size is the same in programs of 32 and 64 bits");
_Static_assert(sizeof(struct slot_record) == 64 && sizeof(struct registration_record) == 32 &&
                   sizeof(struct name_record) == 256,
               "whole lines");
_Static_assert(offsetof(struct directory_shared, revision) == 128 &&
                   offsetof(struct directory_shared, sequence) == 256 &&
                   offsetof(struct directory_shared, event_key) == 384 &&
                   offsetof(struct directory_shared, generation) == 512,
               "these members are 128 bytes apart");
_Static_assert(offsetof(struct session_payload, state) == 8, "state is the second word");

/* Payloads are copied word by word. A reader that copies a payload during a write gets a mixture of old and new words,
   and detects this from the revision. */
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
/* Raises the word to `to` if it is lower. */
static inline void directory_raise(_Atomic uint64_t *word, uint64_t to)
{
    uint64_t was = atomic_load(word);
    while (was < to && !atomic_compare_exchange_weak(word, &was, to))
        ;
}

/* ---- the state within one process ---- */

struct directory {
    struct section *section;
    struct mutex *mutex;
    struct directory_shared *shared;
    uint64_t committed, target; /* for the change in progress; used only by its thread */
    struct lock lock;           /* protects the members below */
    _Atomic uint32_t slot;      /* slot of this process; 0: not allocated yet */
    uint32_t slot_generation;
    _Atomic uint64_t slot_born; /* the directory's `born` when the slot was taken; set after the slot */
    struct signal *own_signal;
    struct signal **old_signals; /* signals of the slots that this process had before a reset of the directory; another
                                    thread may still set them */
    size_t old_count, old_capacity;
    char name[64];
    struct signal *user; /* exists under users_name as long as a process uses the directory */
    uint32_t process;    /* id of the process that opened `user`; in a forked child, directory_leave does nothing */
    struct directory *before; /* the deleted directory that this one replaced; NULL: none */
};

/* ---- directory.c ---- */

/* Calls `read` with the current revision, and then checks that this revision's records stayed in place while it ran. If
   the records did not stay in place, calls `read` again. After many failed attempts, calls `read` under the mutex. Each
   call of `read` must start from the beginning. */
HRESULT directory_read(struct directory *d, HRESULT (*read)(struct directory *d, uint64_t revision, void *context),
                       void *context);
/* Returns whether a record is valid at this revision. */
bool directory_holds(struct directory_span *span, uint64_t revision);
/* In a change: returns whether the record is valid neither before nor after the change. */
bool directory_is_free(struct directory *d, struct directory_span *span);
/* In a change: directory_put writes a record that becomes valid with the change; directory_retire ends the validity of
   a record with the change. */
void directory_put(struct directory *d, struct directory_span *span, _Atomic uint64_t *words, const void *payload,
                   size_t bytes);
void directory_retire(struct directory *d, struct directory_span *span);

/* Builds the name of an object: the directory's name, the kind, and the numbers. */
void directory_object_name(const struct directory *d, char kind, uint32_t number, uint32_t generation, char out[96]);
/* Sets the signal of this name, if it exists. */
void directory_set_signal(const char *name);

/* Stores a string of at most DIRECTORY_TEXT units. If it is longer, fails with the HRESULT of `code`, and the error
   text names `subject`. NULL is stored as a missing string. */
HRESULT directory_put_text(char *to, uint32_t *bytes, const char *text, DWORD code, const char *subject);
/* Reads a string that directory_put_text has stored. *out is from memory_alloc. S_FALSE: not a valid string. */
HRESULT directory_take_text(const char *from, uint32_t bytes, char **out);

/* ---- directory_sessions.c ---- */

/* Returns the session of this logger and generation (0: any) that is valid at the revision, or NULL. */
struct session_record *directory_find_session(struct directory *d, uint32_t logger, uint32_t generation,
                                              uint64_t revision);
/* Returns the state of the session that directory_find_session returns; 0: no such session. */
uint32_t directory_session_state(struct directory *d, uint32_t logger, uint32_t generation, uint64_t revision);
/* Returns the session's name for error texts, from memory_alloc. NULL: out of memory. */
char *directory_session_name(struct session_record *record);

/* ---- directory_enables.c ---- */

/* In a change: ends all enable records of a session. *providers lists the providers of these records; it is from
   memory_alloc. */
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
/* Wakes the listening processes that have registered one of the providers (NULL: all listening processes). */
void directory_wake(struct directory *d, const GUID *providers, size_t count);

#endif

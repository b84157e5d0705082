/* SPDX-License-Identifier: MIT */
/* Between the files of the directory. */
#ifndef OPENPLA_DIRECTORY_PARTS_H
#define OPENPLA_DIRECTORY_PARTS_H

#include "engine/base/host.h"
#include "engine/etw/directory/directory_layout.h"

struct directory {
    struct section *section;
    struct mutex *mutex;
    struct directory_shared *shared;
    uint64_t committed, target; /* of the change; whose thread alone uses them */
    struct host_lock lock;      /* for what follows */
    _Atomic uint32_t slot;      /* of this process; 0: none yet */
    uint32_t slot_turn;
    _Atomic uint64_t slot_born; /* the directory's, when the slot was taken; set behind the slot */
    struct signal *own_signal;
    struct signal **old_signals; /* of slots before the directory was begun anew: somebody may be about to set them */
    size_t old_count, old_capacity;
    char name[64];
    struct directory *before; /* one that was deleted */
};

/* ---- directory.c ---- */

/* Calls `read` with a generation whose records stay as they are while it runs; again, and in the end under the mutex,
   if they did not. It begins afresh each time. */
HRESULT directory_read(struct directory *d, HRESULT (*read)(struct directory *d, uint64_t generation, void *context),
                       void *context);
/* A record holds at this generation. */
bool directory_holds(struct directory_span *span, uint64_t generation);
/* In a change: nobody sees the record, nor will. */
bool directory_is_free(struct directory *d, struct directory_span *span);
/* In a change: writes a record that holds from its end on, or ends one with it. */
void directory_put(struct directory *d, struct directory_span *span, _Atomic uint64_t *words, const void *payload,
                   size_t bytes);
void directory_retire(struct directory *d, struct directory_span *span);

/* "name" of the directory and what else, as names of sections and signals are. */
void directory_object_name(const struct directory *d, char kind, uint32_t number, uint32_t turn, char out[96]);
/* Sets the signal of this name, if there is one. */
void directory_set_signal(const char *name);

/* A text of at most DIRECTORY_TEXT units; the HRESULT of `code` with its subject else. NULL becomes none. */
HRESULT directory_put_text(char *to, uint32_t *bytes, const char *text, DWORD code, const char *subject);
/* Back, from memory_alloc. S_FALSE: what is there is no text. */
HRESULT directory_take_text(const char *from, uint32_t bytes, char **out);

/* ---- directory_sessions.c ---- */

/* The session of this logger and turn (0: any) that holds at the generation; NULL: there is none. */
struct session_record *directory_find_session(struct directory *d, uint32_t logger, uint32_t turn, uint64_t generation);
/* State and turn of it, without the rest. 0: there is none of that turn. */
uint32_t directory_session_state(struct directory *d, uint32_t logger, uint32_t turn, uint64_t generation);
/* The name of a session for texts of errors; from memory_alloc, NULL: out of memory. */
char *directory_session_name(struct session_record *record);

/* ---- directory_enables.c ---- */

/* In a change: all enables of a session end. *providers, from memory_alloc, each once. */
HRESULT directory_enables_end(struct directory *d, uint32_t logger, uint32_t turn, GUID **providers, size_t *count);

/* ---- directory_filters.c ---- */

/* In a change: puts the filters into the arena. ERROR_NO_SYSTEM_RESOURCES, ERROR_INVALID_PARAMETER with a text. */
HRESULT directory_filters_put(struct directory *d, const struct directory_enable *e, struct enable_payload *payload);
/* Back, into *out, checked; what is out of bounds counts as no filters. E_OUTOFMEMORY. */
HRESULT directory_filters_take(struct directory *d, const struct enable_payload *payload, struct directory_enable *out);
uint32_t directory_filter_units(uint32_t bytes);

/* ---- directory_processes.c ---- */

enum { SLOT_FREE, SLOT_LIVE, SLOT_DEAD };
static inline uint32_t slot_state(uint64_t word)
{
    return (uint32_t)(word & 3);
}
static inline uint32_t slot_turn(uint64_t word)
{
    return (uint32_t)(word >> 2 & 0xFFFF);
}
static inline uint64_t slot_word(uint32_t state, uint32_t turn)
{
    return state | (uint64_t)(turn & 0xFFFF) << 2;
}
/* The process that a slot's turn names; false: it names none any more. */
bool directory_process_at(struct directory *d, uint32_t slot, uint32_t turn, struct directory_process *out);
/* Under the mutex: looks at the next slots, frees those whose processes have ended and that nobody can name. */
void directory_slots_tend(struct directory *d, uint32_t how_many);
/* Wakes those that listen and have registered one of the providers (NULL: all that listen). */
void directory_wake(struct directory *d, const GUID *providers, size_t count);

/* ---- directory_registrations.c ---- */

enum { SLOT_SET_WORDS = DIRECTORY_SLOTS / 64 };
static inline bool slot_set_has(const uint64_t set[SLOT_SET_WORDS], uint32_t slot)
{
    return set[slot / 64] >> slot % 64 & 1;
}
/* Adds the slots that have one of the providers registered. */
void directory_registered_slots(struct directory *d, const GUID *providers, size_t count, uint64_t set[SLOT_SET_WORDS]);
/* Frees what processes registered that had this slot before. */
void directory_registrations_end(struct directory *d, uint32_t slot);

#endif

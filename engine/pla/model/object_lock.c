/* SPDX-License-Identifier: MIT */
/* The locks of objects, and the reading of numbers past them. */
#include "engine/pla/model/object_lock.h"

#include "engine/base/host.h"

/* A set's tree takes one of these at creation and keeps it. They are never freed, so an object's lock can be taken
   without knowing whether the object has just moved to another tree; two sets on one lock merely wait for each other.
   `turns` counts how often the lock was entered and left, so it is odd while somebody holds it. */
#define LOCK_COUNT 64
static struct {
    struct host_lock lock;
    atomic_uint turns;
} locks[LOCK_COUNT];
static atomic_uint next_lock;

static void enter(unsigned index)
{
    host_lock_enter(&locks[index].lock);
    /* Only who holds the lock writes it. */
    atomic_store_explicit(&locks[index].turns, atomic_load_explicit(&locks[index].turns, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

static void leave(unsigned index)
{
    atomic_store_explicit(&locks[index].turns, atomic_load_explicit(&locks[index].turns, memory_order_relaxed) + 1,
                          memory_order_release);
    host_lock_leave(&locks[index].lock);
}

unsigned object_lock_choose(const struct object *beside)
{
    return beside ? atomic_load(&beside->lock) : atomic_fetch_add(&next_lock, 1) % LOCK_COUNT;
}

void object_lock(struct object *o)
{
    for (;;) {
        unsigned index = atomic_load(&o->lock);
        enter(index);
        if (atomic_load(&o->lock) == index)
            return;
        leave(index);
    }
}

void object_unlock(struct object *o)
{
    leave(atomic_load(&o->lock));
}

/* The lower lock first. */
struct object_locks object_lock_both(struct object *a, struct object *b)
{
    for (;;) {
        unsigned la = atomic_load(&a->lock), lb = atomic_load(&b->lock);
        struct object_locks l = {la < lb ? la : lb, la < lb ? lb : la};
        enter(l.first);
        if (l.second != l.first)
            enter(l.second);
        if (atomic_load(&a->lock) == la && atomic_load(&b->lock) == lb)
            return l;
        object_unlock_both(l);
    }
}

void object_unlock_both(struct object_locks held)
{
    if (held.second != held.first)
        leave(held.second);
    leave(held.first);
}

/* Kinds whose field is atomic, a bit each. */
#define NUMBERS                                                                                                        \
    (1u << PROPERTY_BOOL | 1u << PROPERTY_I32 | 1u << PROPERTY_U32 | 1u << PROPERTY_ENUM | 1u << PROPERTY_FLAGS)

/* Why no lock is needed: if `turns` is even before and the same after, nobody held the lock in between, so the value is
   what a reader that took the lock then would have got, and two gets in a row see a change of many rows in the same
   order as under it. Whoever writes the field stores `turns`, odd, before; the field's store releases that and its load
   here acquires it, so a value that is seen is never older than the `turns` loaded behind it. The object has that lock
   all the time: to give it another takes that lock too (change_lock), which `turns` shows. */
bool object_get_number(const struct object *o, const struct property *p, uint32_t *out)
{
    if (!(NUMBERS >> p->kind & 1) || p->get || p->get_live || p->put)
        return false;
    unsigned index = atomic_load(&o->lock);
    unsigned turns = atomic_load_explicit(&locks[index].turns, memory_order_acquire);
    if (turns & 1 || atomic_load(&o->lock) != index)
        return false;
    const char *field = (const char *)o + p->offset;
    *out = p->kind == PROPERTY_BOOL
               ? atomic_load_explicit((const _Atomic bool *)field, memory_order_acquire)
               : atomic_load_explicit((const _Atomic uint32_t *)(const void *)field, memory_order_acquire);
    return atomic_load_explicit(&locks[index].turns, memory_order_relaxed) == turns;
}

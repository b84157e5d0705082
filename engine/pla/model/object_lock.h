/* SPDX-License-Identifier: MIT */
/* The locks of objects beyond object_lock: two at once, and for a tree that moves to another. */
#ifndef OPENPLA_OBJECT_LOCK_H
#define OPENPLA_OBJECT_LOCK_H

#include "engine/pla/model.h"

/* A new object's lock: that of the object `beside`, or the next. */
unsigned object_lock_choose(const struct object *beside);

/* Locks two objects that may belong to different trees. */
struct object_locks {
    unsigned first, second;
};
struct object_locks object_lock_both(struct object *a, struct object *b);
void object_unlock_both(struct object_locks held);

#endif

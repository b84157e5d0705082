/* SPDX-License-Identifier: MIT */
/* A tree of stack frames. Two arrays contain its nodes. A hash table (linear probing) of node numbers finds a node. */
#include "engine/etw/stack_tree.h"

#include "engine/base/memory.h"

enum {
    FIRST_NODES = 64,
    LATEST = 1 << 16,   /* entries of `latest`; the hash of a stack's frames leads to an entry with the stack's node */
    PLACES = 2,         /* entries per hash, so that two stacks with the same hash do not replace each other */
    LATEST_FROM = 1024, /* `latest` is created when the tree has this many nodes */
};

/* Mixes all bits into the upper ones, so that it is hard to choose addresses that collide. */
static uint64_t tree_hash(uint32_t parent, uint64_t value)
{
    uint64_t h = (value ^ ((uint64_t)parent << 40 | parent)) * UINT64_C(0x9E3779B97F4A7C15);
    h = (h ^ h >> 29) * UINT64_C(0xBF58476D1CE4E5B9);
    return h ^ h >> 32;
}

#define SLOT_NODE(slot) ((uint32_t)(slot))

static uint64_t slot_of_node(uint64_t hash, uint32_t node)
{
    return (hash & ~(uint64_t)UINT32_MAX) | node;
}

/* Returns the slot of the node. If the tree does not contain the node, returns the free slot where it can be inserted.
   The part of the hash in the slot nearly always identifies the node. Therefore the nodes of other slots, which are far
   apart in memory, need not be read. */
static size_t tree_slot(const struct stack_tree *t, uint32_t parent, uint64_t value, uint64_t hash)
{
    size_t at = (size_t)hash & (t->slot_count - 1);
    for (uint64_t slot; SLOT_NODE(slot = t->slots[at]) != 0; at = (at + 1) & (t->slot_count - 1)) {
        const uint32_t node = SLOT_NODE(slot);
        if (slot == slot_of_node(hash, node) && t->values[node - 1] == value && t->parents[node - 1] == parent)
            break;
    }
    return at;
}

static bool tree_grow_slots(struct stack_tree *t)
{
    uint64_t *old = t->slots;
    const size_t count = t->slot_count ? 2 * t->slot_count : 2 * FIRST_NODES;
    uint64_t *slots = memory_zero(count, sizeof *slots);
    if (!slots)
        return false;
    t->slots = slots;
    t->slot_count = count;
    for (uint32_t node = 1; node <= t->count; node++) {
        const uint32_t parent = t->parents[node - 1];
        const uint64_t value = t->values[node - 1], hash = tree_hash(parent, value);
        t->slots[tree_slot(t, parent, value, hash)] = slot_of_node(hash, node);
    }
    memory_free(old);
    return true;
}

static bool tree_grow_nodes(struct stack_tree *t)
{
    const size_t capacity = t->capacity ? t->capacity + t->capacity / 2 : FIRST_NODES;
    uint64_t *values = memory_resize(t->values, capacity * sizeof *values);
    if (!values)
        return false;
    t->values = values;
    uint32_t *parents = memory_resize(t->parents, capacity * sizeof *parents);
    if (!parents)
        return false;
    t->parents = parents;
    t->capacity = capacity;
    return true;
}

uint32_t stack_tree_add(struct stack_tree *t, uint32_t parent, uint64_t value)
{
    /* At most three quarters of the slots are in use. */
    if ((uint64_t)t->count * 4 >= (uint64_t)t->slot_count * 3 && !tree_grow_slots(t))
        return 0;
    const uint64_t hash = tree_hash(parent, value);
    const size_t at = tree_slot(t, parent, value, hash);
    if (SLOT_NODE(t->slots[at]) != 0)
        return SLOT_NODE(t->slots[at]);
    if (t->count >= t->most) {
        t->refused++;
        return 0;
    }
    if (t->count == t->capacity && !tree_grow_nodes(t))
        return 0;
    t->values[t->count] = value;
    t->parents[t->count] = parent;
    t->slots[at] = slot_of_node(hash, ++t->count);
    return t->count;
}

void stack_tree_prefetch(const struct stack_tree *t, uint32_t parent, uint64_t value)
{
    if (t->slot_count != 0)
        __builtin_prefetch(&t->slots[(size_t)tree_hash(parent, value) & (t->slot_count - 1)]);
}

/* Returns whether the path from the node to `parent` has these frames. The nodes of a stack are adjacent in memory but
   their slots are not, so this is faster than looking up each node. */
static bool tree_is_stack(const struct stack_tree *t, uint32_t node, uint32_t parent, const uint64_t *inner_first,
                          size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (node == 0 || t->values[node - 1] != inner_first[i])
            return false;
        node = t->parents[node - 1];
    }
    return node == parent;
}

static uint32_t *tree_latest(struct stack_tree *t, uint32_t parent, const uint64_t *inner_first, size_t count)
{
    uint64_t hash = parent;
    if (!t->latest && t->count >= LATEST_FROM)
        t->latest = memory_zero(LATEST, sizeof *t->latest);
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ inner_first[i]) * UINT64_C(0x9E3779B97F4A7C15) ^ hash >> 32;
    return t->latest ? &t->latest[hash >> 40 & (LATEST - PLACES)] : NULL;
}

uint32_t stack_tree_add_stack(struct stack_tree *t, uint32_t parent, const uint64_t *inner_first, size_t count)
{
    uint32_t node = parent, *latest = tree_latest(t, parent, inner_first, count);
    for (size_t i = 0; latest && i < PLACES; i++)
        if (latest[i] != 0 && tree_is_stack(t, latest[i], parent, inner_first, count))
            return latest[i];
    for (size_t i = count; i-- > 0;)
        if ((node = stack_tree_add(t, node, inner_first[i])) == 0)
            return 0;
    if (latest) {
        latest[1] = latest[0];
        latest[0] = node;
    }
    return node;
}

void stack_tree_free(struct stack_tree *t)
{
    memory_free(t->values);
    memory_free(t->parents);
    memory_free(t->slots);
    memory_free(t->latest);
    *t = (struct stack_tree){.most = t->most};
}

/* SPDX-License-Identifier: MIT */
/* The allocator. Small blocks do not come from the system's heap, which is slow under Wine, but from pools. Each size
   class has its own pool and lock. When none of the blocks of a pool's piece is in use, the piece is returned to the
   system. Sanitizer builds use malloc, so that misuse is detected. Freed memory is wiped: a password is copied through
   many functions, and a string that grows leaves its old contents behind (DECISIONS 69). */
#include "engine/base/memory.h"

#include "engine/base/os.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define PLAIN_HEAP
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PLAIN_HEAP
#endif

#ifdef PLAIN_HEAP

static void *pool_alloc(size_t size)
{
    return malloc(size);
}

static void *pool_resize(void *p, size_t size)
{
    return realloc(p, size);
}

static void pool_free(void *p)
{
    free(p);
}

#else

#define STEP        16 /* bytes; also the alignment */
#define CLASS_COUNT 32 /* up to 512 bytes; larger blocks come from the system's heap */
#define PIECE_SIZE  32768

struct block {
    struct piece *piece; /* NULL: the block comes from the system's heap */
    union {
        struct block *next_unused; /* the next unused block of the piece */
        size_t size;               /* for a block from the system's heap: the size that the caller requested */
    };
};
#define HEADER      STEP
_Static_assert(sizeof(struct block) <= HEADER, "a block's header is in front of the caller's bytes");

/* A piece of a pool; its blocks follow this header. */
struct piece {
    struct class *class;
    struct piece *next, *previous; /* pieces of the class that have an unused block */
    struct block *unused;          /* blocks that were used before and are free */
    size_t used, cut, count;       /* numbers of blocks: in use now; ever used; in a full piece */
};
#define FIRST_BLOCK ((sizeof(struct piece) + STEP - 1) / STEP * STEP)

static struct class
{
    struct lock lock;
    struct piece *open; /* pieces with an unused block */
} classes[CLASS_COUNT];

static size_t class_size(const struct class *c)
{
    return (size_t)(c - classes + 1) * STEP;
}

static void *bytes_of(struct block *b)
{
    return (char *)b + HEADER;
}

static struct block *block_of(void *p)
{
    return (struct block *)(void *)((char *)p - HEADER);
}

static void open_piece(struct piece *piece)
{
    struct class *c = piece->class;
    piece->previous = NULL;
    piece->next = c->open;
    if (c->open)
        c->open->previous = piece;
    c->open = piece;
}

static void close_piece(struct piece *piece)
{
    if (piece->next)
        piece->next->previous = piece->previous;
    if (piece->previous)
        piece->previous->next = piece->next;
    else
        piece->class->open = piece->next;
}

static struct piece *new_piece(struct class *c)
{
    struct piece *piece = malloc(PIECE_SIZE);
    if (!piece)
        return NULL;
    *piece = (struct piece){.class = c, .count = (PIECE_SIZE - FIRST_BLOCK) / (HEADER + class_size(c))};
    open_piece(piece);
    return piece;
}

static void *alloc_small(struct class *c)
{
    struct block *b = NULL;
    lock_enter(&c->lock);
    struct piece *piece = c->open ? c->open : new_piece(c);
    if (piece) {
        b = piece->unused;
        if (b)
            piece->unused = b->next_unused;
        else
            b = (struct block *)(void *)((char *)piece + FIRST_BLOCK + piece->cut++ * (HEADER + class_size(c)));
        b->piece = piece;
        if (++piece->used == piece->count)
            close_piece(piece);
    }
    lock_leave(&c->lock);
    return b ? bytes_of(b) : NULL;
}

static void free_small(struct block *b)
{
    struct piece *piece = b->piece;
    struct class *c = piece->class;
    memory_wipe(bytes_of(b), class_size(c));
    lock_enter(&c->lock);
    b->next_unused = piece->unused;
    piece->unused = b;
    if (piece->used-- == piece->count)
        open_piece(piece);
    /* One empty piece is kept; otherwise a block that is allocated and freed repeatedly would allocate a piece each
       time. */
    if (!piece->used && (piece->next || piece->previous))
        close_piece(piece);
    else
        piece = NULL;
    lock_leave(&c->lock);
    free(piece);
}

static void *pool_alloc(size_t size)
{
    if (size <= CLASS_COUNT * STEP)
        return alloc_small(&classes[(size - 1) / STEP]);
    struct block *b = size > SIZE_MAX - HEADER ? NULL : malloc(HEADER + size);
    if (!b)
        return NULL;
    b->piece = NULL;
    b->size = size;
    return bytes_of(b);
}

static void pool_free(void *p)
{
    if (!p)
        return;
    struct block *b = block_of(p);
    if (b->piece) {
        free_small(b);
    } else {
        memory_wipe(p, b->size);
        free(b);
    }
}

static void *pool_resize(void *p, size_t size)
{
    struct block *b = p ? block_of(p) : NULL;
    if (!b)
        return pool_alloc(size);
    size_t old = b->piece ? class_size(b->piece->class) : b->size;
    /* A block that shrinks a lot is also moved, because it would otherwise keep much more memory than it needs. The
       system's realloc is not used, because it would leave the old contents behind. */
    if (size <= old && size > (b->piece ? old - STEP : old / 2) && !(size <= CLASS_COUNT * STEP && !b->piece))
        return p;
    void *moved = pool_alloc(size);
    if (!moved)
        return NULL;
    memcpy(moved, p, old < size ? old : size);
    pool_free(p);
    return moved;
}

#endif

/* ---- the allocator, with the fault injection of each thread ---- */

/* Whether any thread has ever set a fault. Checked first, because thread-local variables are slow with some
   compilers. */
static atomic_bool tested;
static _Thread_local uint64_t allocations, failing;

static int allocation_is_refused(void)
{
    if (!atomic_load_explicit(&tested, memory_order_relaxed))
        return 0;
    allocations++;
    return failing && allocations == failing;
}

void *memory_alloc(size_t size)
{
    return allocation_is_refused() ? NULL : pool_alloc(size ? size : 1);
}

void *memory_zero(size_t count, size_t size)
{
    if (allocation_is_refused() || (size && count > SIZE_MAX / size))
        return NULL;
    void *p = pool_alloc(count && size ? count * size : 1);

    if (p)
        memset(p, 0, count * size);
    return p;
}

void *memory_resize(void *p, size_t size)
{
    return allocation_is_refused() ? NULL : pool_resize(p, size ? size : 1);
}

void memory_free(void *p)
{
    pool_free(p);
}

void memory_wipe(void *p, size_t size)
{
    if (size)
        memset(p, 0, size);
    __asm__ __volatile__("" : : "r"(p) : "memory"); /* makes the compiler assume that the bytes are read */
}

void memory_free_secret(char *text)
{
    if (text)
        memory_wipe(text, strlen(text));
    pool_free(text);
}

void *memory_copy(const void *p, size_t size)
{
    void *copy = memory_alloc(size);
    if (copy && size)
        memcpy(copy, p, size);
    return copy;
}

int memory_grow(void **items, size_t *capacity, size_t need, size_t size)
{
    size_t wanted = *capacity;
    if (need <= *capacity)
        return 1;
    while (wanted < need) {
        if (wanted > SIZE_MAX / 2) {
            wanted = need;
            break;
        }
        wanted = wanted ? wanted * 2 : 8;
    }
    if (size && wanted > SIZE_MAX / size)
        return 0;
    void *grown = memory_resize(*items, wanted * size);
    if (!grown)
        return 0;
    *items = grown;
    *capacity = wanted;
    return 1;
}

void memory_fail_at(uint64_t n)
{
    atomic_store_explicit(&tested, true, memory_order_relaxed);
    allocations = 0;
    failing = n;
}

uint64_t memory_count(void)
{
    return allocations;
}

/* SPDX-License-Identifier: MIT */
/* libxml2's memory. A document's memory is allocated from large pieces that are freed together. A stream's memory
   consists of blocks that are freed individually; the remaining blocks are freed together. */
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/quotas.h"
#include "engine/base/xml_document.h"

#include <setjmp.h>
#include <stdatomic.h>
#include <libxml/parser.h>
#include <libxml/xmlerror.h>
#include <libxml/xmlmemory.h>
#include <string.h>

#define PIECE_FIRST 16384
#define PIECE_LAST  (1u << 20)
#define MEMORY_MAX  ((size_t)QUOTA_NUMBER_xml_memory) /* the limit for one document, unless its reader sets another */
#define ALIGNMENT   sizeof(uint64_t)                  /* the alignment of libxml2's structs */

struct piece {
    struct piece *next;
    size_t size, used; /* bytes after the header */
};
#define PIECE_HEADER ((sizeof(struct piece) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT)

/* Precedes the block's header, for loose blocks only. */
struct loose {
    _Alignas(uint64_t) struct loose *next;
    struct loose *previous;
    struct xml_memory *memory;
};

struct xml_memory {
    struct piece *pieces; /* blocks are allocated from the first piece */
    bool freeing;         /* blocks are allocated and freed one by one, without pieces */
    struct loose *loose;
    uint64_t given, most_given;  /* bytes of all loose blocks ever allocated, and their limit; 0: no limit */
    size_t size, most;           /* bytes */
    size_t most_block;           /* bytes of one block; 0: no limit */
    bool (*stop)(void *context); /* NULL: nothing stops the work */
    void *context;
    bool too_much, block_refused, stopped;
    jmp_buf out; /* the target of the jump if an allocation fails */
};

/* libxml2 memory outside of documents comes from the heap. */
enum { BLOCK_CUT, BLOCK_LOOSE, BLOCK_HEAP, BLOCK_KINDS = ALIGNMENT };
/* Precedes each block; a report has several blocks per cell. */
struct block {
    uint64_t size_and_kind; /* bytes, a multiple of ALIGNMENT; the low bits contain the kind */
};
_Static_assert(sizeof(struct block) % ALIGNMENT == 0 && sizeof(struct loose) % ALIGNMENT == 0,
               "the bytes after the header of a block are aligned");

static _Thread_local struct xml_memory *current;

static struct block *block_of(void *p)
{
    return (struct block *)(void *)((char *)p - sizeof(struct block));
}

static size_t size_of(const struct block *b)
{
    return (size_t)(b->size_and_kind / BLOCK_KINDS * BLOCK_KINDS);
}

static unsigned kind_of(const struct block *b)
{
    return b->size_and_kind % BLOCK_KINDS;
}

/* Returns 0 if the size is too large. */
static size_t rounded(size_t size)
{
    return size > SIZE_MAX / 2 ? 0 : (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static bool add_piece(struct xml_memory *m, size_t need)
{
    size_t size = m->pieces ? m->pieces->size * 2 : PIECE_FIRST;
    size = size > PIECE_LAST ? PIECE_LAST : size;
    size = size < need ? need : size;
    m->too_much = need > m->most || size > m->most - m->size;
    struct piece *piece = m->too_much ? NULL : memory_alloc(PIECE_HEADER + size);
    if (!piece)
        return false;
    *piece = (struct piece){.next = m->pieces, .size = size};
    m->pieces = piece;
    m->size += size;
    return true;
}

static void *add_loose(struct xml_memory *m, size_t size)
{
    m->given += size;
    m->too_much = size > m->most - m->size || (m->most_given && m->given > m->most_given);
    struct loose *l = m->too_much ? NULL : memory_alloc(sizeof *l + sizeof(struct block) + size);
    if (!l)
        longjmp(m->out, 1);
    *l = (struct loose){.next = m->loose, .memory = m};
    if (m->loose)
        m->loose->previous = l;
    m->loose = l;
    m->size += size;
    struct block *b = (struct block *)(void *)(l + 1);
    b->size_and_kind = size | BLOCK_LOOSE;
    return b + 1;
}

static void free_loose(struct block *b)
{
    struct loose *l = (struct loose *)(void *)b - 1;
    *(l->previous ? &l->previous->next : &l->memory->loose) = l->next;
    if (l->next)
        l->next->previous = l->previous;
    l->memory->size -= size_of(b);
    memory_free(l);
}

static void *xml_memory_cut_block(struct xml_memory *m, size_t size)
{
    const size_t need = sizeof(struct block) + size;
    if ((!m->pieces || m->pieces->size - m->pieces->used < need) && !add_piece(m, need))
        longjmp(m->out, 1);
    struct block *b = (struct block *)(void *)((char *)m->pieces + PIECE_HEADER + m->pieces->used);
    m->pieces->used += need;
    b->size_and_kind = size | BLOCK_CUT;
    return b + 1;
}

/* ---- functions that libxml2 calls ---- */

static void *xml_alloc(size_t wanted)
{
    const size_t size = rounded(wanted ? wanted : 1);
    if (current) {
        current->block_refused = current->most_block && size > current->most_block;
        current->too_much = !size || current->block_refused;
        current->stopped = current->stop && current->stop(current->context);
        if (current->too_much || current->stopped)
            longjmp(current->out, 1);
        return current->freeing ? add_loose(current, size) : xml_memory_cut_block(current, size);
    }
    struct block *b = size ? memory_alloc(sizeof *b + size) : NULL;
    if (!b)
        return NULL;
    b->size_and_kind = size | BLOCK_HEAP;
    return b + 1;
}

static void xml_free(void *p)
{
    struct block *b = p ? block_of(p) : NULL;
    if (b && kind_of(b) == BLOCK_HEAP)
        memory_free(b);
    else if (b && kind_of(b) == BLOCK_LOOSE)
        free_loose(b);
}

static void *xml_resize(void *p, size_t size)
{
    struct block *b = p ? block_of(p) : NULL;
    if (b && size <= size_of(b))
        return p;
    void *grown = xml_alloc(size);
    if (grown && b) {
        memcpy(grown, p, size_of(b));
        xml_free(p);
    }
    return grown;
}

static char *xml_copy(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = xml_alloc(size);
    return copy ? memcpy(copy, text, size) : NULL;
}

/* ---- memory of documents ---- */

/* The last piece of the latest document; NULL while a document uses it. Allocating and freeing a large block is
   expensive, and so is the first access to its pages. */
static _Atomic(struct piece *) spare;

struct xml_memory *xml_memory_create(void)
{
    struct xml_memory *m = xml_memory_begin() ? memory_zero(1, sizeof *m) : NULL;
    if (!m)
        return NULL;
    m->most = MEMORY_MAX;
    m->pieces = atomic_exchange(&spare, NULL);
    m->size = m->pieces ? m->pieces->size : 0;
    return m;
}

struct xml_memory *xml_memory_create_freeing(void)
{
    struct xml_memory *m = xml_memory_begin() ? memory_zero(1, sizeof *m) : NULL;
    if (m) {
        m->freeing = true;
        m->most = MEMORY_MAX;
    }
    return m;
}

void xml_memory_limit(struct xml_memory *m, size_t bytes)
{
    m->most = bytes > m->size ? bytes : m->size;
}

void xml_memory_limit_work(struct xml_memory *m, uint64_t bytes)
{
    m->most_given = bytes;
}

void xml_memory_limit_block(struct xml_memory *m, size_t bytes)
{
    m->most_block = bytes;
}

void xml_memory_watch(struct xml_memory *m, bool (*stop)(void *context), void *context)
{
    m->stop = stop;
    m->context = context;
}

bool xml_memory_block_refused(const struct xml_memory *m)
{
    return m->block_refused;
}

uint64_t xml_memory_given(const struct xml_memory *m)
{
    return m->given;
}

void xml_memory_destroy(struct xml_memory *m)
{
    while (m && m->loose)
        free_loose((struct block *)(void *)(m->loose + 1));
    struct piece *kept = m ? m->pieces : NULL;
    if (!kept) {
        memory_free(m);
        return;
    }
    while (kept->next) {
        struct piece *next = kept->next;
        kept->next = next->next;
        memory_free(next);
    }
    memory_wipe((char *)kept + PIECE_HEADER, kept->used); /* the piece is kept, but must not keep its old contents */
    kept->used = 0;
    memory_free(kept->size > PIECE_LAST ? kept : atomic_exchange(&spare, kept));
    memory_free(m);
}

HRESULT xml_memory_use(struct xml_memory *m, void (*work)(void *about), void *about)
{
    struct xml_memory *const before = current;
    current = m;
    m->stopped = false;
    int out = setjmp(m->out);
    if (!out)
        work(about);
    /* libxml2's record of this thread's latest error must not outlive the document's memory. */
    xmlResetLastError();
    current = before;
    if (!out)
        return S_OK;
    if (m->stopped)
        return error_set(HRESULT_FROM_WIN32(ERROR_CANCELLED), "the operation was stopped");
    return m->too_much ? error_set(OPENPLA_E_MALFORMED_XML, "invalid XML: it needs more than %u MB of memory",
                                   (unsigned)(m->most >> 20))
                       : E_OUTOFMEMORY;
}

/* ---- memory that outlives every document ---- */

/* Memory for tables that libxml2 and libxslt create once. If memory ran out while a library creates its tables, the
   tables would stay incomplete. The library would later allocate the missing parts from the memory of a document. */
#define KEPT_BYTES ((size_t)64 << 10)

bool xml_memory_keep(void (*work)(void *about), void *about)
{
    static struct lock lock = LOCK_INIT;
    static struct xml_memory kept = {.most = MEMORY_MAX};
    lock_enter(&lock);
    const bool done = add_piece(&kept, KEPT_BYTES) && SUCCEEDED(xml_memory_use(&kept, work, about));
    lock_leave(&lock);
    return done;
}

static void begin_parser(void *about)
{
    (void)about;
    xmlInitParser(); /* under the lock, because creating libxml2's tables is not thread-safe */
}

bool xml_memory_begin(void)
{
    static struct lock lock = LOCK_INIT;
    static atomic_bool set, begun;
    if (atomic_load(&begun))
        return true;
    lock_enter(&lock);
    if (!atomic_exchange(&set, true))
        xmlMemSetup(xml_free, xml_alloc, xml_resize, xml_copy);
    if (!atomic_load(&begun))
        atomic_store(&begun, xml_memory_keep(begin_parser, NULL));
    const bool done = atomic_load(&begun);
    lock_leave(&lock);
    return done;
}

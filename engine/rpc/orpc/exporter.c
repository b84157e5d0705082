/* SPDX-License-Identifier: MIT */
/* IObjectExporter (MS-DCOM 3.1.2.5.1): returns the addresses of objects, and receives pings for the objects that
   clients still hold.

   This interface needs no logon, so a client without an account must not be able to use up resources with its calls.
   Therefore a ping set is created only for an existing OID. Only the holder of an object knows its OID, because OIDs
   are random. */
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/rpc/orpc/objects.h"

enum {
    RESOLVE_OXID = 0,
    SIMPLE_PING = 1,
    COMPLEX_PING = 2,
    SERVER_ALIVE = 3,
    RESOLVE_OXID2 = 4,
    SERVER_ALIVE2 = 5,
    STATUS_INVALID_OXID = 0x776, /* OR_INVALID_OXID and so on */
    STATUS_INVALID_OID = 0x777,
    STATUS_INVALID_SET = 0x778
};

void write_version(struct ndr_writer *w)
{
    ndr_write_u16(w, 5);
    ndr_write_u16(w, 7);
}

/* ---- ping sets, under the lock ---- */

static struct ping_set *ping_set_find(struct orpc_server *s, uint64_t id)
{
    struct ping_set *set = s->sets;
    while (set && set->id != id)
        set = set->next;
    return set;
}

static struct remote_object *ping_find_object(struct orpc_server *s, uint64_t oid)
{
    struct remote_object *o = s->by_oid[oid % BUCKETS];
    while (o && o->oid != oid)
        o = o->next_in_bucket;
    return o;
}

static void ping_set_remove(struct orpc_server *s, struct ping_set *set)
{
    struct ping_set **at = &s->sets;
    while (*at != set)
        at = &(*at)->next;
    *at = set->next;
    s->set_count--;
    memory_free(set);
}

static struct ping_set *ping_set_create(struct orpc_server *s, uint64_t id)
{
    struct ping_set *oldest = s->sets, *set = memory_zero(1, sizeof *set);
    if (!set)
        return NULL;
    for (struct ping_set *other = s->sets; other && s->set_count >= PING_SETS; other = other->next)
        if (other->used_ms < oldest->used_ms)
            oldest = other;
    if (oldest && s->set_count >= PING_SETS)
        ping_set_remove(s, oldest);
    set->id = id;
    set->next = s->sets;
    s->sets = set;
    s->set_count++;
    return set;
}

static void ping_set_use(struct orpc_server *s, struct ping_set *set, uint64_t now_ms)
{
    set->used_ms = now_ms;
    for (size_t i = 0; i < set->count;) {
        struct remote_object *o = ping_find_object(s, set->oids[i]);
        if (o) {
            o->used_ms = now_ms;
            i++;
        } else
            set->oids[i] = set->oids[--set->count]; /* the object no longer exists */
    }
}

static void ping_set_change(struct ping_set *set, uint64_t oid, bool adds)
{
    size_t i = 0;
    while (i < set->count && set->oids[i] != oid)
        i++;
    if (adds && i == set->count && i < PING_SET_OIDS)
        set->oids[set->count++] = oid;
    else if (!adds && i < set->count)
        set->oids[i] = set->oids[--set->count];
}

void ping_sets_run_down(struct orpc_server *s, uint64_t now_ms, uint32_t period_ms)
{
    for (struct ping_set *set = s->sets, *next; set; set = next) {
        next = set->next;
        if (now_ms > set->used_ms && now_ms - set->used_ms > period_ms)
            ping_set_remove(s, set);
    }
}

/* ---- methods ---- */

static uint32_t exporter_simple_ping(struct orpc_server *s, uint64_t now_ms, struct ndr_reader *in,
                                     struct ndr_writer *out)
{
    const uint64_t id = ndr_read_u64(in);
    if (in->fault)
        return in->fault;
    lock_enter(&s->lock);
    struct ping_set *set = id ? ping_set_find(s, id) : NULL;
    if (set)
        ping_set_use(s, set, now_ms);
    lock_leave(&s->lock);
    ndr_write_u32(out, set ? 0 : STATUS_INVALID_SET);
    return 0;
}

/* Reads a list of OIDs after a pointer; NULL: the pointer is null. */
static const uint8_t *exporter_read_oids(struct ndr_reader *in, uint16_t count)
{
    if (!ndr_read_u32(in))
        return NULL;
    ndr_expect_u32(in, count);
    return ndr_take(in, 8, (size_t)count * 8);
}

static uint64_t oid_at(const uint8_t *oids, size_t i)
{
    struct ndr_reader r = ndr_reader_over(oids + 8 * i, 8);
    return ndr_read_u64(&r);
}

static uint32_t exporter_complex_ping(struct orpc_server *s, uint64_t now_ms, struct ndr_reader *in,
                                      struct ndr_writer *out)
{
    uint64_t id = ndr_read_u64(in), fresh;
    ndr_read_u16(in); /* sequence number: not needed, because TCP keeps the order */
    const uint16_t add_count = ndr_read_u16(in), remove_count = ndr_read_u16(in);
    const uint8_t *add = exporter_read_oids(in, add_count), *remove = exporter_read_oids(in, remove_count);
    if (in->fault)
        return in->fault;
    if (FAILED(os_random(&fresh, sizeof fresh)))
        return RPC_FAULT_NO_MEMORY;
    uint32_t status = 0;
    lock_enter(&s->lock);
    struct ping_set *set = id ? ping_set_find(s, id) : NULL;
    if (id && !set)
        status = STATUS_INVALID_SET;
    for (size_t i = 0; add && i < add_count && !status; i++)
        if (!ping_find_object(s, oid_at(add, i)))
            status = STATUS_INVALID_OID;
        else if (set || (set = ping_set_create(s, fresh | 1)) != NULL)
            ping_set_change(set, oid_at(add, i), true);
        else
            status = 0xE; /* ERROR_OUTOFMEMORY */
    for (size_t i = 0; set && remove && i < remove_count; i++)
        ping_set_change(set, oid_at(remove, i), false);
    if (set) {
        ping_set_use(s, set, now_ms);
        id = set->id;
    }
    lock_leave(&s->lock);
    ndr_write_u64(out, id);
    ndr_write_u16(out, 0); /* no back-off */
    ndr_write_u32(out, status);
    return 0;
}

static uint32_t exporter_resolve(struct orpc_session *session, bool has_version, struct ndr_reader *in,
                                 struct ndr_writer *out)
{
    const struct orpc_server *s = session->server;
    const bool is_ours = ndr_read_u64(in) == s->oxid;
    if (in->fault)
        return in->fault;
    ndr_write_u32(out, is_ours ? 0x20000 : 0);
    if (is_ours)
        dual_strings_write(out, true, &session->bindings);
    ndr_write_guid(out, is_ours ? &s->rem_unknown : &(const GUID){0});
    ndr_write_u32(out, AUTH_LEVEL_PRIVACY);
    if (has_version)
        write_version(out);
    ndr_write_u32(out, is_ours ? 0 : STATUS_INVALID_OXID);
    return 0;
}

uint32_t exporter_call(struct orpc_session *session, const struct rpc_call *call, uint64_t now_ms,
                       struct ndr_reader *in, struct ndr_writer *out)
{
    switch (call->opnum) {
    case RESOLVE_OXID:
    case RESOLVE_OXID2:
        return exporter_resolve(session, call->opnum == RESOLVE_OXID2, in, out);
    case SIMPLE_PING:
        return exporter_simple_ping(session->server, now_ms, in, out);
    case COMPLEX_PING:
        return exporter_complex_ping(session->server, now_ms, in, out);
    case SERVER_ALIVE:
        ndr_write_u32(out, 0);
        return 0;
    case SERVER_ALIVE2:
        write_version(out);
        ndr_write_u32(out, 0x20000);
        dual_strings_write(out, true, &session->bindings);
        ndr_write_u32(out, 0);
        ndr_write_u32(out, 0);
        return 0;
    default:
        return RPC_FAULT_OPNUM;
    }
}

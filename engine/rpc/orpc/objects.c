/* SPDX-License-Identifier: MIT */
/* Keeps the objects that remote clients hold, and decides when they are released.

       orpc_server.objects ── remote_object (one per identity and account)
                                 └─ interfaces ── remote_interface (one per IID): pointer, references

   Tables are indexed by the first byte of the random id. The handler's functions can take a long time or call back, so
   they run without the lock. An interface that a call uses is pinned, and an object that is removed during a call is
   freed by the last unpin. An object is released when its last reference is released, or when orpc_server_run_down
   finds that no client has used or pinged the object for a while. */
#include "engine/rpc/orpc/objects.h"

#include "engine/base/assert.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/text.h"

#include <string.h>

#define DEFAULT_OBJECTS            16384
#define DEFAULT_OBJECTS_OF_ACCOUNT 4096
#define DEFAULT_RUN_DOWN_MS        360000u
#define REFERENCES_MOST            0x7FFFFFFFu

static size_t ipid_bucket(const GUID *ipid)
{
    return ipid->Data1 % BUCKETS;
}

/* ---- tables, under the lock ---- */

static struct remote_interface *objects_find(struct orpc_server *s, const GUID *ipid, const char *account)
{
    for (struct remote_interface *i = s->by_ipid[ipid_bucket(ipid)]; i; i = i->next_in_bucket)
        if (guid_equal(&i->ipid, ipid))
            return i->references && strcmp(i->object->account, account) == 0 ? i : NULL;
    return NULL;
}

static void objects_unlink_interface(struct orpc_server *s, struct remote_interface *interface)
{
    struct remote_interface **at = &s->by_ipid[ipid_bucket(&interface->ipid)];
    while (*at != interface)
        at = &(*at)->next_in_bucket;
    *at = interface->next_in_bucket;
}

/* Removes the object and its interfaces from the tables. The interfaces stay in the object's own list, because
   objects_free needs this list. */
static void objects_remove(struct orpc_server *s, struct remote_object *o)
{
    struct remote_object **at = &s->objects;
    while (*at != o)
        at = &(*at)->next;
    *at = o->next;
    o->next = NULL;
    at = &s->by_oid[o->oid % BUCKETS];
    while (*at != o)
        at = &(*at)->next_in_bucket;
    *at = o->next_in_bucket;
    for (struct remote_interface *i = o->interfaces; i; i = i->next)
        objects_unlink_interface(s, i);
    o->is_removed = true;
    s->object_count--;
}

static void objects_use(struct remote_object *o, struct orpc_session *session, uint64_t now_ms)
{
    o->used_ms = now_ms;
    if (session) {
        o->session = session;
        session->used_ms = now_ms;
    }
}

/* ---- without the lock ---- */

/* Frees removed objects, which are chained by `next`. */
static void objects_free(struct orpc_server *s, struct remote_object *o)
{
    while (o) {
        struct remote_object *next = o->next;
        assert(!o->pins);
        while (o->interfaces) {
            struct remote_interface *i = o->interfaces;
            o->interfaces = i->next;
            s->handler.release(s->handler.user, i->pointer);
            memory_free(i);
        }
        s->handler.release(s->handler.user, o->identity);
        memory_free(o);
        o = next;
    }
}

static struct remote_object *objects_find_identity(struct orpc_server *s, const void *identity, const char *account,
                                                   size_t *of_account)
{
    *of_account = 0;
    for (struct remote_object *o = s->objects; o; o = o->next) {
        if (strcmp(o->account, account) != 0)
            continue;
        ++*of_account;
        if (o->identity == identity)
            return o;
    }
    return NULL;
}

/* Inserts the new object, or the new interface of a known one, into the tables. The caller keeps ownership of *object
   and *interface if they were not used. */
static HRESULT objects_insert(struct orpc_session *session, const char *account, uint32_t references, uint64_t now_ms,
                              struct remote_object **object, struct remote_interface **interface,
                              struct std_objref *out)
{
    struct orpc_server *s = session->server;
    size_t of_account;
    struct remote_object *o = objects_find_identity(s, (*object)->identity, account, &of_account);
    struct remote_interface *i = o ? o->interfaces : NULL;
    while (i && !guid_equal(&i->iid, &(*interface)->iid))
        i = i->next;
    if (i && references > REFERENCES_MOST - i->references)
        return E_INVALIDARG;
    if (!o) {
        const size_t most = s->limits.objects ? s->limits.objects : DEFAULT_OBJECTS;
        const size_t most_of_account =
            s->limits.objects_of_account ? s->limits.objects_of_account : DEFAULT_OBJECTS_OF_ACCOUNT;
        if (s->object_count >= most || of_account >= most_of_account)
            return HRESULT_FROM_WIN32(ERROR_NOT_ENOUGH_QUOTA);
        o = *object;
        *object = NULL;
        o->next = s->objects;
        s->objects = o;
        o->next_in_bucket = s->by_oid[o->oid % BUCKETS];
        s->by_oid[o->oid % BUCKETS] = o;
        s->object_count++;
    }
    if (!i) {
        i = *interface;
        *interface = NULL;
        i->object = o;
        i->next = o->interfaces;
        o->interfaces = i;
        i->next_in_bucket = s->by_ipid[ipid_bucket(&i->ipid)];
        s->by_ipid[ipid_bucket(&i->ipid)] = i;
    }
    i->references += references;
    objects_use(o, session, now_ms);
    *out = (struct std_objref){.references = references, .oxid = s->oxid, .oid = o->oid, .ipid = i->ipid};
    return S_OK;
}

HRESULT objects_export(struct orpc_session *session, void *object, const GUID *iid, const char *account,
                       uint32_t references, uint64_t now_ms, struct std_objref *out)
{
    struct orpc_server *s = session->server;
    if (!guid_equal(iid, &orpc_iid_unknown) && !s->handler.serves(s->handler.user, iid))
        return E_NOINTERFACE;
    struct remote_object *o = memory_zero(1, sizeof *o);
    struct remote_interface *i = memory_zero(1, sizeof *i);
    HRESULT hr = o && i ? os_random(&o->oid, sizeof o->oid) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = os_random(&i->ipid, sizeof i->ipid);
    if (SUCCEEDED(hr))
        hr = s->handler.query(s->handler.user, object, &orpc_iid_unknown, &o->identity);
    if (SUCCEEDED(hr))
        hr = s->handler.query(s->handler.user, object, iid, &i->pointer);
    if (SUCCEEDED(hr)) {
        i->iid = *iid;
        text_fit(o->account, sizeof o->account, account);
        lock_enter(&s->lock);
        hr = objects_insert(session, account, references, now_ms, &o, &i, out);
        lock_leave(&s->lock);
    }
    if (i && i->pointer)
        s->handler.release(s->handler.user, i->pointer);
    if (o && o->identity)
        s->handler.release(s->handler.user, o->identity);
    memory_free(i);
    memory_free(o);
    return hr;
}

bool objects_pin(struct orpc_session *session, const GUID *ipid, const char *account, uint64_t now_ms,
                 struct remote_interface *copy)
{
    struct orpc_server *s = session->server;
    lock_enter(&s->lock);
    struct remote_interface *i = objects_find(s, ipid, account);
    if (i) {
        i->object->pins++;
        objects_use(i->object, session, now_ms);
        *copy = *i;
    }
    lock_leave(&s->lock);
    return i != NULL;
}

void objects_unpin(struct orpc_server *s, struct remote_object *object)
{
    lock_enter(&s->lock);
    const bool is_last = --object->pins == 0 && object->is_removed;
    lock_leave(&s->lock);
    if (is_last)
        objects_free(s, object);
}

bool objects_add_references(struct orpc_server *s, const GUID *ipid, const char *account, uint32_t references)
{
    lock_enter(&s->lock);
    struct remote_interface *i = objects_find(s, ipid, account);
    const bool is_added = i && references <= REFERENCES_MOST - i->references;
    if (is_added)
        i->references += references;
    lock_leave(&s->lock);
    return is_added;
}

bool objects_release_references(struct orpc_server *s, const GUID *ipid, const char *account, uint32_t references)
{
    struct remote_object *removed = NULL;
    struct remote_interface *gone = NULL;
    lock_enter(&s->lock);
    struct remote_interface *i = objects_find(s, ipid, account);
    if (i) {
        struct remote_object *o = i->object;
        bool is_held = false;
        i->references -= references < i->references ? references : i->references;
        for (struct remote_interface *other = o->interfaces; other; other = other->next)
            is_held = is_held || other->references;
        if (!is_held) {
            objects_remove(s, o);
            removed = o->pins ? NULL : o;        /* otherwise the last unpin frees it */
        } else if (!i->references && !o->pins) { /* a call of a pinned object may be using the interface's pointer */
            struct remote_interface **at = &o->interfaces;
            while (*at != i) {
                assert(*at); /* the object's list contains i */
                at = &(*at)->next;
            }
            *at = i->next;
            objects_unlink_interface(s, i);
            gone = i;
        }
    }
    lock_leave(&s->lock);
    objects_free(s, removed);
    if (gone) {
        s->handler.release(s->handler.user, gone->pointer);
        memory_free(gone);
    }
    return i != NULL;
}

void objects_forget_session(struct orpc_session *session)
{
    struct orpc_server *s = session->server;
    lock_enter(&s->lock);
    for (struct remote_object *o = s->objects; o; o = o->next)
        if (o->session == session) {
            o->used_ms = o->used_ms > session->used_ms ? o->used_ms : session->used_ms;
            o->session = NULL;
        }
    lock_leave(&s->lock);
}

void orpc_server_run_down(struct orpc_server *s, uint64_t now_ms)
{
    const uint32_t period = s->limits.run_down_ms ? s->limits.run_down_ms : DEFAULT_RUN_DOWN_MS;
    struct remote_object *removed = NULL;
    lock_enter(&s->lock);
    for (struct remote_object *o = s->objects, *next; o; o = next) {
        uint64_t used_ms = o->used_ms;
        next = o->next;
        if (o->session && o->session->used_ms > used_ms)
            used_ms = o->session->used_ms;
        if (o->pins || now_ms <= used_ms || now_ms - used_ms <= period)
            continue;
        objects_remove(s, o);
        o->next = removed;
        removed = o;
    }
    ping_sets_run_down(s, now_ms, period);
    lock_leave(&s->lock);
    objects_free(s, removed);
}

size_t orpc_server_objects(struct orpc_server *s)
{
    lock_enter(&s->lock);
    const size_t count = s->object_count;
    lock_leave(&s->lock);
    return count;
}

void objects_free_all(struct orpc_server *s)
{
    while (s->objects) {
        struct remote_object *o = s->objects;
        objects_remove(s, o);
        objects_free(s, o);
    }
}

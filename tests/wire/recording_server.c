/* SPDX-License-Identifier: MIT */
/* A vtable of 72 methods, each of which records its slot. On x86-64, all arguments of our interfaces have register
   size, and no method has more than four arguments, so one C signature is sufficient; a method ignores arguments that
   it does not have. */
#include "tests/wire/recording_server.h"

#include <string.h>

static struct recording_server *from_object(void *object)
{
    return CONTAINING_RECORD(object, struct recording_server, object);
}

static HRESULT record(void *object, unsigned slot, const ULONG_PTR arguments[MAX_PARAMETERS])
{
    struct recording_server *server = from_object(object);
    server->calls++;
    server->slot = slot;
    if (server->raise)
        server->raise();
    for (unsigned i = 0; server->member && slot == server->member->opnum && i < server->member->count; i++) {
        const struct parameter *p = &server->member->parameters[i];
        if (p->in)
            value_take(p->type, arguments[i], &server->taken[i]);
        else
            value_return(p->type, &server->give[i], argument_place(arguments[i]));
    }
    return server->result;
}

#define SLOT(n)                                                                                                        \
    static HRESULT STDMETHODCALLTYPE slot_##n(void *object, ULONG_PTR a, ULONG_PTR b, ULONG_PTR c, ULONG_PTR d)        \
    {                                                                                                                  \
        return record(object, n, (const ULONG_PTR[]){a, b, c, d});                                                     \
    }
#define SLOTS_OF_TEN(S, t) S(t##0) S(t##1) S(t##2) S(t##3) S(t##4) S(t##5) S(t##6) S(t##7) S(t##8) S(t##9)
#define SLOTS(S)                                                                                                       \
    S(3)                                                                                                               \
    S(4)                                                                                                               \
    S(5)                                                                                                               \
    S(6)                                                                                                               \
    S(7)                                                                                                               \
    S(8)                                                                                                               \
    S(9)                                                                                                               \
    SLOTS_OF_TEN(S, 1)                                                                                                 \
    SLOTS_OF_TEN(S, 2) SLOTS_OF_TEN(S, 3) SLOTS_OF_TEN(S, 4) SLOTS_OF_TEN(S, 5) SLOTS_OF_TEN(S, 6) S(70) S(71)
SLOTS(SLOT)

static HRESULT STDMETHODCALLTYPE query_interface(void *object, REFIID iid, void **out)
{
    bool ours = IsEqualIID(iid, &IID_IUnknown) || IsEqualIID(iid, &IID_IDispatch);
    for (size_t i = 0; !ours && i < MEMBERS; i++)
        ours = IsEqualIID(iid, members[i].iid);
    *out = ours ? object : NULL;
    if (!ours)
        return E_NOINTERFACE;
    InterlockedIncrement(&from_object(object)->references);
    return S_OK;
}

static ULONG STDMETHODCALLTYPE add_ref(void *object)
{
    return (ULONG)InterlockedIncrement(&from_object(object)->references);
}

/* The test owns the memory. */
static ULONG STDMETHODCALLTYPE release(void *object)
{
    return (ULONG)InterlockedDecrement(&from_object(object)->references);
}

#define SLOT_NAME(n) (void *)slot_##n,
static void *const methods[] = {(void *)query_interface, (void *)add_ref, (void *)release, SLOTS(SLOT_NAME)};

void recording_server_init(struct recording_server *server)
{
    memset(server, 0, sizeof *server);
    server->object.lpVtbl = (IUnknownVtbl *)methods;
    server->references = 1;
}

void recording_server_expect(struct recording_server *server, const struct member *member)
{
    for (unsigned i = 0; server->member && i < server->member->count; i++)
        if (server->member->parameters[i].in)
            value_free(server->member->parameters[i].type, &server->taken[i]);
    server->member = member;
    server->calls = 0;
    server->slot = 0;
    server->raise = NULL;
    server->result = S_OK;
}

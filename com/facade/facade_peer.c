/* SPDX-License-Identifier: MIT */
/* Finds the peer of a set in a client's process, keeps it, and replaces it if its server has exited.
 */
#include "com/facade/facade.h"
#include "com/facade/server_call.h"
#include "engine/base/memory.h"
#include "engine/pla/definition.h"
#include "engine/pla/sets.h"

#include <string.h>

struct peer *peer_of(struct object *o)
{
    return set_of(o)->peer;
}

void peer_destroy(struct peer *peer)
{
    if (!peer)
        return;
    if (peer->set)
        IDispatch_Release(peer->set);
    server_list_release(peer->list);
    memory_free(peer->folder);
    memory_free(peer->user);
    memory_free_secret(peer->password);
    memory_free(peer);
}

const CLSID *peer_class_of(const char *space, bool collections)
{
    static const struct {
        const CLSID *id;
        const char *space;
        HRESULT (*create)(const char *category, struct object **out);
    } classes[] = {
#define FACADE(name, guid, title, create, for_client)
#define CLASS(name, guid, title, create, category) {&CLSID_##name, category, create},
#include "reg/classes.def"
#undef CLASS
#undef FACADE
    };
    size_t i = 0;
    while (strcmp(classes[i].space, space) != 0 || (classes[i].create == sets_collection_create) != collections)
        i++; /* always found: each namespace has a class for sets and one for collections */
    return classes[i].id;
}

HRESULT peer_query(const char *space, const char *name, const char *machine, bool damaged, IDispatch **out)
{
    const char *arguments[] = {name, ""};
    HRESULT hr = server_create(peer_class_of(space, false), machine, out);
    if (FAILED(hr))
        return hr;
    hr = server_call(*out, &data_collector_set_class, L"Query", arguments, 2);
    if (damaged && definition_is_damaged(hr)) /* the server's object is bound to the name despite the failure */
        return S_OK;
    if (FAILED(hr)) {
        IDispatch_Release(*out);
        *out = NULL;
    }
    return hr;
}

void peer_keep(struct object *o, IDispatch *set, bool any, IDispatch *before)
{
    IDispatch *old = set;
    struct server_list *list = NULL;
    object_lock(o);
    if (any || peer_of(o)->set == before) {
        old = peer_of(o)->set;
        list = peer_of(o)->list;
        peer_of(o)->set = set;
        peer_of(o)->list = NULL;
    }
    object_unlock(o);
    if (old)
        IDispatch_Release(old);
    server_list_release(list);
}

void peer_keep_listed(struct object *o, struct server_list *list, uint32_t index)
{
    peer_of(o)->list = server_list_reference(list);
    peer_of(o)->listed_at = index;
}

/* Returns a reference to the set's list; NULL: the set does not come from a list, or already has its own object. */
static struct server_list *list_of(struct object *o, uint32_t *index)
{
    object_lock(o);
    struct server_list *list = peer_of(o)->list;
    if (list)
        server_list_reference(list);
    *index = peer_of(o)->listed_at;
    object_unlock(o);
    return list;
}

bool peer_listed_status(struct object *o, uint32_t *status)
{
    uint32_t index;
    struct server_list *list = list_of(o, &index);
    bool known = list && server_list_status(list, index, status);
    server_list_release(list);
    return known;
}

bool peer_listed_definition(struct object *o, char **account, char **xml)
{
    uint32_t index;
    struct server_list *list = list_of(o, &index);
    bool known = list && server_list_definition(list, index, account, xml);
    server_list_release(list);
    return known;
}

static IDispatch *peer_is_kept(struct object *o)
{
    object_lock(o);
    IDispatch *set = peer_of(o)->set;
    if (set)
        IDispatch_AddRef(set);
    object_unlock(o);
    return set;
}

HRESULT peer_machine(const char *server, char **machine)
{
    bool own;
    HRESULT hr = sets_is_own_machine(server, &own);
    *machine = NULL;
    if (FAILED(hr) || own)
        return hr;
    *machine = text_copy(server + strspn(server, "\\"));
    return *machine ? S_OK : E_OUTOFMEMORY;
}

/* Returns the server's object from the set's list; NULL: the set does not come from a list, or the list's server has
   exited. */
static IDispatch *peer_is_listed(struct object *o)
{
    uint32_t index;
    struct server_list *list = list_of(o, &index);
    IDispatch *set = list ? server_list_item(list, index) : NULL;
    server_list_release(list);
    return set;
}

/* Returns a reference to the server's object of a bound set: the kept object, or a new one. */
static HRESULT peer_connect(struct object *o, const char *space, const char *name, IDispatch **out)
{
    char *machine = NULL;
    *out = peer_is_kept(o);
    if (*out)
        return S_OK;
    *out = peer_is_listed(o);
    if (*out) {
        IDispatch_AddRef(*out);
        peer_keep(o, *out, false, NULL);
        return S_OK;
    }
    object_lock(o);
    char *server = text_copy(set_of(o)->Server);
    object_unlock(o);
    HRESULT hr = server ? peer_machine(server, &machine) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = peer_query(space, name, machine, true, out);
    if (SUCCEEDED(hr)) {
        IDispatch_AddRef(*out);
        peer_keep(o, *out, false, NULL);
    }
    memory_free(machine);
    memory_free(server);
    return hr;
}

HRESULT peer_verb(struct object *o, const char *space, const char *name, const WCHAR *member, WORD flags,
                  const VARIANT *arguments, UINT count, VARIANT *result)
{
    HRESULT hr = E_FAIL;
    if (result)
        VariantInit(result);
    for (int attempt = 0; attempt < 2; attempt++) {
        IDispatch *set;
        hr = peer_connect(o, space, name, &set);
        if (FAILED(hr))
            return hr;
        hr = server_invoke(set, &data_collector_set_class, member, flags, arguments, count, result);
        if (server_is_gone(hr))
            peer_keep(o, NULL, false, set);
        IDispatch_Release(set);
        if (!server_is_gone(hr))
            break;
    }
    return hr;
}

/* SPDX-License-Identifier: MIT */
/* Objects of another computer: activation, interfaces, calls by vtable. */
#include "engine/rpc/client/object.h"

#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/text.h"
#include "engine/rpc/client/peer.h"

#include <stdio.h>
#include <string.h>

enum { CREATE_INSTANCE = 4, QUERY_INTERFACE = 3, RELEASE_REFERENCES = 5 };

HRESULT answer_malformed(uint32_t fault)
{
    if (fault == RPC_FAULT_NO_MEMORY)
        return E_OUTOFMEMORY;
    return error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA), "the other computer sent a malformed response");
}

HRESULT orpc_request_begin(struct ndr_writer *request)
{
    GUID causality;
    HRESULT hr = os_random(&causality, sizeof causality);
    if (SUCCEEDED(hr))
        orpc_write_this(request, &causality);
    return hr;
}

void orpc_answer_free(struct orpc_answer *answer)
{
    ndr_arena_free(&answer->arena);
    memory_free(answer->bytes);
    *answer = (struct orpc_answer){0};
}

/* Returns the port of the first binding. The binding's address is ignored, because the host is reached by the name that
   the user specified. */
static void port_of(const struct dual_strings *bindings, const char *usual, char port[PEER_PORT_BYTES])
{
    uint64_t number;
    const char *open = bindings->count ? strchr(bindings->addresses[0], '[') : NULL;
    const size_t digits = open ? strspn(open + 1, "0123456789") : 0;
    text_fit(port, PEER_PORT_BYTES, usual);
    if (!digits || digits >= PEER_PORT_BYTES || open[1 + digits] != ']')
        return;
    char text[PEER_PORT_BYTES];
    snprintf(text, sizeof text, "%.*s", (int)digits, open + 1);
    if (text_to_u64(text, &number) && number >= 1 && number <= UINT16_MAX)
        text_fit(port, PEER_PORT_BYTES, text);
}

/* Takes ownership of the reference `s`, even on failure. */
static HRESULT object_create(struct orpc_peer *p, const struct orpc_exporter *exporter, const GUID *iid,
                             const struct std_objref *s, struct orpc_object **out)
{
    struct orpc_object *o = memory_zero(1, sizeof *o);
    *out = NULL;
    HRESULT hr = o ? peer_hold(p, s->oid) : E_OUTOFMEMORY;
    if (FAILED(hr)) {
        memory_free(o);
        return hr; /* the object is not pinged, so the server will release it */
    }
    p->references++;
    o->references = 1;
    o->peer = p;
    o->exporter = *exporter;
    o->iid = *iid;
    o->ipid = s->ipid;
    o->oid = s->oid;
    o->held = s->references;
    o->lock = (struct lock)LOCK_INIT;
    *out = o;
    return S_OK;
}

HRESULT orpc_activate(struct orpc_peer *p, const GUID *clsid, const GUID *iid, struct orpc_object **out)
{
    struct ndr_writer request = {0};
    struct ndr_arena arena = {0};
    GUID causality;
    uint8_t *answer = NULL;
    size_t size = 0;
    *out = NULL;
    struct orpc_activated *a = memory_zero(1, sizeof *a);
    HRESULT hr = a ? os_random(&causality, sizeof causality) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr)) {
        orpc_write_activation(&request, &causality, clsid, iid, 1, false);
        hr = peer_call(p, p->port, &orpc_iid_scm_activator, NULL, CREATE_INSTANCE, &request, PEER_REPEAT, &answer,
                       &size); /* repeatable: if the answer is lost, the server runs the object down */
    }
    if (SUCCEEDED(hr)) {
        struct ndr_reader r = ndr_reader_over(answer, size);
        hr = orpc_read_activation(&r, &arena, a);
        if (r.fault || (SUCCEEDED(hr) && a->count != 1))
            hr = answer_malformed(r.fault);
    }
    if (SUCCEEDED(hr) && FAILED(a->results[0]))
        hr = a->results[0];
    if (SUCCEEDED(hr) && (!a->objects[0] || a->objects[0]->kind != OBJREF_STANDARD))
        hr = answer_malformed(0);
    if (SUCCEEDED(hr)) {
        struct orpc_exporter exporter = {.oxid = a->oxid, .rem_unknown = a->rem_unknown};
        port_of(&a->bindings, p->port, exporter.port);
        hr = object_create(p, &exporter, iid, &a->objects[0]->standard, out);
    }
    ndr_writer_free(&request);
    ndr_arena_free(&arena);
    memory_free(answer);
    memory_free(a);
    return hr;
}

/* ---- references ---- */

struct orpc_object *orpc_object_reference(struct orpc_object *o)
{
    o->references++;
    return o;
}

/* Releases the object on the server. If this fails, the server runs the object down later. */
static void object_release_there(struct orpc_object *o)
{
    struct ndr_writer request = {0};
    GUID causality;
    uint8_t *answer = NULL;
    size_t size;
    const struct orpc_references one = {o->ipid, o->held};
    /* The calls below may replace the latest error, which the caller may still need. */
    const struct error_kept why = error_keep(error_latest());
    if (SUCCEEDED(os_random(&causality, sizeof causality))) {
        orpc_write_references(&request, &causality, &one, 1);
        peer_call(o->peer, o->exporter.port, &orpc_iid_rem_unknown, &o->exporter.rem_unknown, RELEASE_REFERENCES,
                  &request, PEER_ONCE, &answer, &size);
    }
    memory_free(answer);
    ndr_writer_free(&request);
    error_restore(&why);
}

void orpc_object_release(struct orpc_object *o)
{
    if (!o || --o->references)
        return;
    object_release_there(o);
    peer_drop(o->peer, o->oid);
    orpc_peer_release(o->peer);
    for (size_t i = 0; i < o->id_count; i++)
        memory_free(o->ids[i].name);
    memory_free(o->ids);
    memory_free(o);
}

HRESULT orpc_object_query(struct orpc_object *o, const GUID *iid, struct orpc_object **out)
{
    struct ndr_writer request = {0};
    GUID causality;
    uint8_t *answer = NULL;
    size_t size = 0;
    struct std_objref reference;
    HRESULT result = E_NOINTERFACE;
    *out = NULL;
    HRESULT hr = os_random(&causality, sizeof causality);
    if (SUCCEEDED(hr)) {
        orpc_write_query(&request, &causality, &o->ipid, ORPC_REFERENCES, iid, 1);
        hr = peer_call(o->peer, o->exporter.port, &orpc_iid_rem_unknown, &o->exporter.rem_unknown, QUERY_INTERFACE,
                       &request, PEER_REPEAT, &answer, &size);
    }
    if (SUCCEEDED(hr)) {
        struct ndr_reader r = ndr_reader_over(answer, size);
        hr = orpc_read_query(&r, 1, &reference, &result);
        hr = r.fault ? answer_malformed(r.fault) : FAILED(hr) ? hr : result;
    }
    if (SUCCEEDED(hr))
        hr = object_create(o->peer, &o->exporter, iid, &reference, out);
    memory_free(answer);
    ndr_writer_free(&request);
    return hr;
}

HRESULT orpc_object_adopt(struct orpc_object *o, const struct objref *reference, struct orpc_object **out)
{
    *out = NULL;
    if (!reference || reference->kind != OBJREF_STANDARD || reference->standard.oxid != o->exporter.oxid)
        return error_set(E_INVALIDARG, "'%s': the answer refers to an object of another server", o->peer->host);
    return object_create(o->peer, &o->exporter, &reference->iid, &reference->standard, out);
}

/* ---- calls ---- */

HRESULT object_call(struct orpc_object *o, uint16_t opnum, struct ndr_writer *request, enum peer_repeat repeat,
                    struct orpc_answer *answer)
{
    size_t size;
    *answer = (struct orpc_answer){0};
    HRESULT hr = peer_call(o->peer, o->exporter.port, &o->iid, &o->ipid, opnum, request, repeat, &answer->bytes, &size);
    ndr_writer_free(request);
    if (FAILED(hr))
        return hr;
    answer->reader = ndr_reader_over(answer->bytes, size);
    orpc_read_that(&answer->reader, NULL);
    return answer->reader.fault ? answer_malformed(answer->reader.fault) : S_OK;
}

HRESULT orpc_call(struct orpc_object *o, uint16_t opnum, struct ndr_writer *request, struct orpc_answer *answer)
{
    return object_call(o, opnum, request, PEER_ONCE, answer);
}

HRESULT orpc_call_again(struct orpc_object *o, uint16_t opnum, struct ndr_writer *request, struct orpc_answer *answer)
{
    return object_call(o, opnum, request, PEER_REPEAT, answer);
}

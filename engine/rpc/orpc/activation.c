/* SPDX-License-Identifier: MIT */
/* Activation (MS-DCOM 2.2.22, 3.1.2.5.2.3): requests and answers of IRemoteSCMActivator and IActivation, on both sides.

       MInterfacePointer { OBJREF_CUSTOM { dwSize, dwReserved, CustomHeader, property, property ... } }

   The header and each property begin with a type serialization header of 16 bytes (MS-RPCE 2.2.6): version, endianness,
   length. The header's list of CLSIDs identifies the properties, and its list of sizes gives their positions; offsets
   inside a property count from the end of its serialization header. The sender chooses the order of the properties. */
#include "engine/base/assert.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/rpc/orpc/objects.h"

#define OLE_GUID(n)                                                                                                    \
    {                                                                                                                  \
        n, 0, 0,                                                                                                       \
        {                                                                                                              \
            0xC0, 0, 0, 0, 0, 0, 0, 0x46                                                                               \
        }                                                                                                              \
    }
const GUID properties_in_iid = OLE_GUID(0x1A2), properties_in_clsid = OLE_GUID(0x338);
const GUID properties_out_iid = OLE_GUID(0x1A3), properties_out_clsid = OLE_GUID(0x339);
const GUID property_instantiation = OLE_GUID(0x1AB), property_context = OLE_GUID(0x1A5),
           property_location = OLE_GUID(0x1A4), property_scm_request = OLE_GUID(0x1AA),
           property_props_out = OLE_GUID(0x339), property_scm_reply = OLE_GUID(0x1B6);

enum { SERIALIZATION_HEADER = 16, DIFFERENT_MACHINE = 2, TCP_IP = 7, GET_CLASS_OBJECT = 3, CREATE_INSTANCE = 4 };
#define GET_CLASS_OBJECT_MODE 0xFFFFFFFFu /* of IActivation */

/* ---- properties ---- */

void properties_read(struct ndr_reader *r, struct activation_properties *out)
{
    *out = (struct activation_properties){0};
    ndr_take(r, 1, 8); /* dwSize, dwReserved */
    const size_t start = r->at;
    ndr_take(r, 1, SERIALIZATION_HEADER);
    if (r->fault)
        return;
    struct ndr_reader header = ndr_reader_over(r->bytes + r->at, r->size - r->at);
    ndr_read_u32(&header); /* totalSize */
    const uint32_t header_size = ndr_read_u32(&header);
    ndr_take(&header, 4, 8); /* reserved, destination context */
    const uint32_t count = ndr_read_u32(&header);
    ndr_read_guid(&header);
    ndr_take(&header, 4, 12); /* three pointers */
    ndr_expect_u32(&header, count);
    if (count > PROPERTIES_MOST)
        ndr_fail(&header, RPC_FAULT_BAD_STUB);
    for (uint32_t i = 0; i < count && !header.fault; i++)
        out->items[i].clsid = ndr_read_guid(&header);
    ndr_expect_u32(&header, count);
    r->at = start;
    ndr_take(r, 1, header_size);
    for (uint32_t i = 0; i < count && !header.fault && !r->fault; i++) {
        const uint32_t size = ndr_read_u32(&header);
        const uint8_t *property = ndr_take(r, 1, size);
        if (!property || size < SERIALIZATION_HEADER) {
            ndr_fail(r, RPC_FAULT_BAD_STUB);
            break;
        }
        out->items[i].bytes = property + SERIALIZATION_HEADER;
        out->items[i].size = size - SERIALIZATION_HEADER;
        out->count = i + 1;
    }
    if (header.fault)
        ndr_fail(r, header.fault);
}

const struct activation_property *properties_find(const struct activation_properties *p, const GUID *clsid)
{
    for (size_t i = 0; i < p->count; i++)
        if (guid_equal(&p->items[i].clsid, clsid))
            return &p->items[i];
    return NULL;
}

/* Writes a body with its serialization header, padded to a multiple of 8. */
static void property_write(struct ndr_writer *w, const uint8_t *bytes, size_t size)
{
    static const uint8_t version[8] = {1, 0x10, 8, 0, 0xCC, 0xCC, 0xCC, 0xCC};
    const size_t padded = (size + 7) & ~(size_t)7;
    uint8_t length[8] = {0};
    ndr_store_u32(length, (uint32_t)padded);
    ndr_write_bytes(w, version, sizeof version);
    ndr_write_bytes(w, length, sizeof length);
    ndr_write_bytes(w, bytes, size);
    ndr_add(w, 1, padded - size);
}

static size_t property_size(size_t size)
{
    return SERIALIZATION_HEADER + ((size + 7) & ~(size_t)7);
}

void properties_write(struct ndr_writer *w, const GUID *iid, const GUID *clsid, const struct activation_properties *p)
{
    struct ndr_writer header = {0}, data = {0};
    /* The header's own size: fixed members, two arrays with their counts. */
    const size_t header_size = property_size(48 + 8 + p->count * 20);
    size_t total = header_size;
    for (size_t i = 0; i < p->count; i++)
        total += property_size(p->items[i].size);
    ndr_write_u32(&header, (uint32_t)total);
    ndr_write_u32(&header, (uint32_t)header_size);
    ndr_write_u32(&header, 0);
    ndr_write_u32(&header, DIFFERENT_MACHINE);
    ndr_write_u32(&header, (uint32_t)p->count);
    ndr_write_guid(&header, &(const GUID){0});
    ndr_write_u32(&header, 0x20000);
    ndr_write_u32(&header, 0x20004);
    ndr_write_u32(&header, 0);
    ndr_write_u32(&header, (uint32_t)p->count);
    for (size_t i = 0; i < p->count; i++)
        ndr_write_guid(&header, &p->items[i].clsid);
    ndr_write_u32(&header, (uint32_t)p->count);
    for (size_t i = 0; i < p->count; i++)
        ndr_write_u32(&header, (uint32_t)property_size(p->items[i].size));
    assert(header.failed || property_size(header.size) == header_size);
    ndr_write_u32(&data, (uint32_t)total);
    ndr_write_u32(&data, 0);
    property_write(&data, header.bytes, header.size);
    for (size_t i = 0; i < p->count; i++)
        property_write(&data, p->items[i].bytes, p->items[i].size);
    w->failed = w->failed || header.failed || data.failed;
    const struct objref o = {
        .kind = OBJREF_CUSTOM, .iid = *iid, .clsid = *clsid, .custom = data.bytes, .custom_size = data.size};
    ndr_write_object(w, &o);
    ndr_writer_free(&header);
    ndr_writer_free(&data);
}

/* ---- server ---- */

void write_interfaces(struct orpc_call *call, void *object, const GUID *iids, HRESULT *results, size_t count,
                      struct ndr_writer *out)
{
    struct ndr_writer pointees = {0};
    bool is_there[ORPC_IIDS_MOST] = {false};
    assert(count <= ORPC_IIDS_MOST);
    for (size_t i = 0; i < count; i++) {
        struct objref o;
        if (SUCCEEDED(results[i]))
            results[i] = orpc_export(call, object, &iids[i], &o);
        is_there[i] = SUCCEEDED(results[i]);
        if (is_there[i])
            ndr_write_object_pointee(&pointees, &o);
    }
    ndr_write_u32(out, (uint32_t)count);
    for (size_t i = 0; i < count; i++)
        ndr_write_u32(out, is_there[i] ? (uint32_t)(0x20010 + 4 * i) : 0);
    ndr_write_bytes(out, pointees.bytes, pointees.size); /* already aligned to 4 */
    out->failed = out->failed || pointees.failed;
    ndr_writer_free(&pointees);
}

struct activation_request {
    GUID clsid;
    uint32_t count;
    GUID iids[ORPC_IIDS_MOST];
};

static void activation_read_iids(struct ndr_reader *r, struct activation_request *q)
{
    ndr_expect_u32(r, q->count);
    if (!q->count || q->count > ORPC_IIDS_MOST)
        ndr_fail(r, RPC_FAULT_BAD_STUB);
    for (uint32_t i = 0; i < q->count && !r->fault; i++)
        q->iids[i] = ndr_read_guid(r);
}

static uint32_t activator_read(struct ndr_reader *in, bool creates, struct activation_request *q)
{
    struct ndr_arena arena = {0};
    struct objref *o = NULL;
    struct activation_properties p;
    if (creates && ndr_read_u32(in)) /* pUnkOuter */
        ndr_fail(in, RPC_FAULT_BAD_STUB);
    ndr_read_object(in, &arena, &o);
    if (!o || o->kind != OBJREF_CUSTOM || !guid_equal(&o->iid, &properties_in_iid)) {
        ndr_fail(in, RPC_FAULT_BAD_STUB);
    } else if (!in->fault) {
        struct ndr_reader data = ndr_reader_over(o->custom, o->custom_size);
        properties_read(&data, &p);
        const struct activation_property *found = data.fault ? NULL : properties_find(&p, &property_instantiation);
        if (found) {
            struct ndr_reader r = ndr_reader_over(found->bytes, found->size);
            q->clsid = ndr_read_guid(&r);
            ndr_take(&r, 4, 12); /* class context, flags, surrogate */
            q->count = ndr_read_u32(&r);
            ndr_take(&r, 4, 16); /* instance flags, pointer, size, version */
            activation_read_iids(&r, q);
            data.fault = r.fault;
        } else
            ndr_fail(&data, RPC_FAULT_BAD_STUB);
        if (data.fault)
            ndr_fail(in, data.fault);
    }
    ndr_arena_free(&arena);
    return in->fault;
}

static void activator_write(struct orpc_call *call, const struct ndr_writer *interfaces,
                            const struct activation_request *q, const HRESULT *results, struct ndr_writer *out)
{
    const struct orpc_server *s = call->session->server;
    struct ndr_writer props = {0}, reply = {0};
    ndr_write_u32(&props, q->count);
    ndr_write_u32(&props, 0x20000);
    ndr_write_u32(&props, 0x20004);
    ndr_write_u32(&props, 0x20008);
    ndr_write_u32(&props, q->count);
    for (uint32_t i = 0; i < q->count; i++)
        ndr_write_guid(&props, &q->iids[i]);
    ndr_write_u32(&props, q->count);
    for (uint32_t i = 0; i < q->count; i++)
        ndr_write_u32(&props, (uint32_t)results[i]);
    ndr_write_bytes(&props, interfaces->bytes, interfaces->size);
    ndr_write_u32(&reply, 0);
    ndr_write_u32(&reply, 0x20000);
    ndr_write_u64(&reply, s->oxid);
    ndr_write_u32(&reply, 0x20004);
    ndr_write_guid(&reply, &s->rem_unknown);
    ndr_write_u32(&reply, AUTH_LEVEL_PRIVACY);
    write_version(&reply);
    dual_strings_write(&reply, true, &call->session->bindings);
    const struct activation_properties p = {
        .count = 2,
        .items = {{.clsid = property_props_out, .bytes = props.bytes, .size = props.size},
                  {.clsid = property_scm_reply, .bytes = reply.bytes, .size = reply.size}}};
    out->failed = out->failed || props.failed || reply.failed || interfaces->failed;
    properties_write(out, &properties_out_iid, &properties_out_clsid, &p);
    ndr_write_u32(out, 0);
    ndr_writer_free(&props);
    ndr_writer_free(&reply);
}

/* Creates the object and exports the requested interfaces. If all interfaces fail, the activation fails with the error
   of the first one. */
static HRESULT activation_perform(struct orpc_call *call, const struct activation_request *q, bool is_factory,
                                  HRESULT *results, struct ndr_writer *interfaces)
{
    const struct orpc_handler *h = &call->session->server->handler;
    void *object = NULL;
    HRESULT hr = h->activate(h->user, call, &q->clsid, is_factory, &object);
    for (uint32_t i = 0; i < q->count; i++)
        results[i] = hr;
    if (FAILED(hr))
        return hr;
    write_interfaces(call, object, q->iids, results, q->count, interfaces);
    h->release(h->user, object);
    for (uint32_t i = 0; i < q->count; i++)
        if (SUCCEEDED(results[i]))
            return S_OK;
    return results[0];
}

uint32_t activator_call(struct orpc_call *call, struct ndr_reader *in, struct ndr_writer *out)
{
    struct activation_request q = {.count = 0};
    HRESULT results[ORPC_IIDS_MOST] = {S_OK};
    struct ndr_writer interfaces = {0};
    if (call->opnum != GET_CLASS_OBJECT && call->opnum != CREATE_INSTANCE)
        return RPC_FAULT_OPNUM;
    const uint32_t fault = activator_read(in, call->opnum == CREATE_INSTANCE, &q);
    if (fault)
        return fault;
    const HRESULT hr = activation_perform(call, &q, call->opnum == GET_CLASS_OBJECT, results, &interfaces);
    if (SUCCEEDED(hr))
        activator_write(call, &interfaces, &q, results, out);
    else {
        ndr_write_u32(out, 0);
        ndr_write_u32(out, (uint32_t)hr);
    }
    ndr_writer_free(&interfaces);
    return 0;
}

static uint32_t activation_read(struct ndr_reader *in, struct activation_request *q, bool *is_factory)
{
    q->clsid = ndr_read_guid(in);
    if (ndr_read_u32(in)) { /* pwszObjectName */
        ndr_take(in, 4, 8);
        const uint32_t units = ndr_read_u32(in);
        if (ndr_can_hold(in, units, 2))
            ndr_take(in, 2, (size_t)units * 2);
    }
    if (ndr_read_u32(in)) /* pObjectStorage */
        ndr_fail(in, RPC_FAULT_BAD_STUB);
    ndr_read_u32(in); /* ClientImpLevel */
    *is_factory = ndr_read_u32(in) == GET_CLASS_OBJECT_MODE;
    q->count = ndr_read_u32(in);
    if (!ndr_read_u32(in))
        ndr_fail(in, RPC_FAULT_BAD_STUB);
    activation_read_iids(in, q);
    return in->fault;
}

uint32_t activation_call(struct orpc_call *call, struct ndr_reader *in, struct ndr_writer *out)
{
    const struct orpc_server *s = call->session->server;
    struct activation_request q = {.count = 0};
    HRESULT results[ORPC_IIDS_MOST] = {S_OK};
    struct ndr_writer interfaces = {0};
    bool is_factory;
    if (call->opnum)
        return RPC_FAULT_OPNUM;
    const uint32_t fault = activation_read(in, &q, &is_factory);
    if (fault)
        return fault;
    const HRESULT hr = activation_perform(call, &q, is_factory, results, &interfaces);
    const bool is_good = SUCCEEDED(hr);
    ndr_write_u64(out, is_good ? s->oxid : 0);
    ndr_write_u32(out, is_good ? 0x20000 : 0);
    if (is_good)
        dual_strings_write(out, true, &call->session->bindings);
    ndr_write_guid(out, is_good ? &s->rem_unknown : &(const GUID){0});
    ndr_write_u32(out, AUTH_LEVEL_PRIVACY);
    write_version(out);
    ndr_write_u32(out, (uint32_t)hr);
    ndr_add(out, 4, 0);
    if (is_good)
        ndr_write_bytes(out, interfaces.bytes, interfaces.size);
    else {
        ndr_write_u32(out, q.count);
        ndr_add(out, 4, (size_t)q.count * 4);
    }
    out->failed = out->failed || interfaces.failed;
    ndr_write_u32(out, q.count);
    for (uint32_t i = 0; i < q.count; i++)
        ndr_write_u32(out, (uint32_t)results[i]);
    ndr_write_u32(out, 0);
    ndr_writer_free(&interfaces);
    return 0;
}

/* ---- client ---- */

void orpc_write_activation(struct ndr_writer *w, const GUID *causality, const GUID *clsid, const GUID *iids,
                           size_t count, bool is_factory)
{
    struct ndr_writer instantiation = {0}, scm = {0};
    static const uint8_t zeros[24];
    orpc_write_this(w, causality);
    if (!is_factory)
        ndr_write_u32(w, 0); /* pUnkOuter */
    ndr_write_guid(&instantiation, clsid);
    ndr_add(&instantiation, 4, 12); /* class context, flags, surrogate */
    ndr_write_u32(&instantiation, (uint32_t)count);
    ndr_write_u32(&instantiation, 0);
    ndr_write_u32(&instantiation, 0x20000);
    ndr_write_u32(&instantiation, 0);
    write_version(&instantiation);
    ndr_write_u32(&instantiation, (uint32_t)count);
    for (size_t i = 0; i < count; i++)
        ndr_write_guid(&instantiation, &iids[i]);
    ndr_write_u32(&scm, 0);
    ndr_write_u32(&scm, 0x20000); /* remoteRequest */
    ndr_write_u32(&scm, 2);       /* RPC_C_IMP_LEVEL_IDENTIFY */
    ndr_write_u16(&scm, 1);
    ndr_write_u32(&scm, 0x20004);
    ndr_write_u32(&scm, 1);
    ndr_write_u16(&scm, TCP_IP);
    const struct activation_properties p = {
        .count = 4,
        .items = {{.clsid = property_instantiation, .bytes = instantiation.bytes, .size = instantiation.size},
                  {.clsid = property_context, .bytes = zeros, .size = 24},
                  {.clsid = property_location, .bytes = zeros, .size = 16},
                  {.clsid = property_scm_request, .bytes = scm.bytes, .size = scm.size}}};
    w->failed = w->failed || instantiation.failed || scm.failed;
    properties_write(w, &properties_in_iid, &properties_in_clsid, &p);
    ndr_writer_free(&instantiation);
    ndr_writer_free(&scm);
}

static void activated_read_interfaces(struct ndr_reader *r, struct ndr_arena *arena, struct orpc_activated *out)
{
    bool is_there[ORPC_IIDS_MOST];
    const uint32_t count = ndr_read_u32(r);
    ndr_take(r, 4, 12); /* three pointers */
    ndr_expect_u32(r, count);
    if (!count || count > ORPC_IIDS_MOST)
        ndr_fail(r, RPC_FAULT_BAD_STUB);
    if (r->fault)
        return;
    for (uint32_t i = 0; i < count; i++)
        ndr_read_guid(r);
    ndr_expect_u32(r, count);
    for (uint32_t i = 0; i < count; i++)
        out->results[i] = (HRESULT)ndr_read_u32(r);
    ndr_expect_u32(r, count);
    for (uint32_t i = 0; i < count; i++)
        is_there[i] = ndr_read_u32(r) != 0;
    for (uint32_t i = 0; i < count && !r->fault; i++) {
        if (is_there[i])
            ndr_read_object_pointee(r, arena, &out->objects[i]);
        if (SUCCEEDED(out->results[i]) && (!out->objects[i] || out->objects[i]->kind != OBJREF_STANDARD))
            ndr_fail(r, RPC_FAULT_BAD_STUB);
        if (FAILED(out->results[i]))
            out->objects[i] = NULL;
    }
    out->count = count;
}

static void activated_read_reply(struct ndr_reader *r, struct orpc_activated *out)
{
    ndr_read_u32(r);
    if (!ndr_read_u32(r))
        ndr_fail(r, RPC_FAULT_BAD_STUB);
    out->oxid = ndr_read_u64(r);
    if (!ndr_read_u32(r))
        ndr_fail(r, RPC_FAULT_BAD_STUB);
    out->rem_unknown = ndr_read_guid(r);
    ndr_take(r, 4, 8); /* level, version */
    dual_strings_read(r, true, &out->bindings);
}

HRESULT orpc_read_activation(struct ndr_reader *r, struct ndr_arena *arena, struct orpc_activated *out)
{
    struct objref *o = NULL;
    *out = (struct orpc_activated){0};
    orpc_read_that(r, NULL);
    ndr_read_object(r, arena, &o);
    const HRESULT hr = (HRESULT)ndr_read_u32(r);
    if (r->fault || FAILED(hr))
        return hr;
    struct activation_properties p = {0};
    if (o && o->kind == OBJREF_CUSTOM) {
        struct ndr_reader data = ndr_reader_over(o->custom, o->custom_size);
        properties_read(&data, &p);
    }
    const struct activation_property *props = properties_find(&p, &property_props_out);
    const struct activation_property *reply = properties_find(&p, &property_scm_reply);
    if (!props || !reply) {
        ndr_fail(r, RPC_FAULT_BAD_STUB);
        return hr;
    }
    struct ndr_reader body = ndr_reader_over(props->bytes, props->size);
    activated_read_interfaces(&body, arena, out);
    if (!body.fault) {
        body = ndr_reader_over(reply->bytes, reply->size);
        activated_read_reply(&body, out);
    }
    if (body.fault)
        ndr_fail(r, body.fault);
    return hr;
}

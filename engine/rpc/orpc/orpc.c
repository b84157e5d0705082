/* SPDX-License-Identifier: MIT */
/* Executes one ORPC call: checks the interface and the access, reads ORPCTHIS and writes ORPCTHAT (MS-DCOM 2.2.13), and
   calls IRemUnknown or the handler's methods. This file also contains the client's bodies of IRemUnknown and
   IObjectExporter. */
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/text.h"
#include "engine/rpc/orpc/objects.h"

#include <string.h>

#define OLE_GUID(n)                                                                                                    \
    {                                                                                                                  \
        n, 0, 0,                                                                                                       \
        {                                                                                                              \
            0xC0, 0, 0, 0, 0, 0, 0, 0x46                                                                               \
        }                                                                                                              \
    }
const GUID orpc_iid_unknown = OLE_GUID(0), orpc_iid_class_factory = OLE_GUID(1);
const GUID orpc_iid_scm_activator = OLE_GUID(0x1A0), orpc_iid_rem_unknown = OLE_GUID(0x131),
           orpc_iid_rem_unknown2 = OLE_GUID(0x143);
const GUID orpc_iid_object_exporter = {0x99FCFEC4, 0x5260, 0x101B, {0xBB, 0xCB, 0x00, 0xAA, 0x00, 0x21, 0x34, 0x7A}};
const GUID orpc_iid_activation = {0x4D9F4AB8, 0x7D1C, 0x11CF, {0x86, 0x1E, 0x00, 0x20, 0xAF, 0x6E, 0x7C, 0x57}};
/* MS-RPCE 2.2.1.1.6, version 1.0. Samba's Python client logs on with this interface before it calls others. */
static const GUID management = {0xAFA8BD80, 0x7D8A, 0x11C9, {0xBE, 0xF4, 0x08, 0x00, 0x2B, 0x10, 0x29, 0x89}};
static const GUID extension_error_info = OLE_GUID(0x31C);

#define INVALID_OBJECT ((HRESULT)0x80010114)
enum {
    QUERY_INTERFACE = 3,
    ADD_REFERENCES = 4,
    RELEASE = 5,
    QUERY_INTERFACE2 = 6,
    FIRST_OF_INTERFACE = 3, /* 0 to 2 are IUnknown's, which are never called remotely */
    REFERENCES_AT_ONCE = 0xFFFFFF,
    RELEASES_MOST = 4096,
    EXTENSIONS_MOST = 256
};

/* ---- ORPCTHIS and ORPCTHAT ---- */

/* Reads ORPC_EXTENT_ARRAY after its pointer: the id and the bytes of each extension. *found is the extension with the
   id `expected`. */
static void extensions_read(struct ndr_reader *r, const GUID *expected, struct ndr_reader *found)
{
    const uint32_t count = ndr_read_u32(r);
    ndr_read_u32(r);
    if (!ndr_read_u32(r))
        return;
    const uint32_t slots = ndr_read_u32(r);
    if (count > EXTENSIONS_MOST || slots != ((count + 1) & ~1u))
        ndr_fail(r, RPC_FAULT_BAD_STUB);
    const uint8_t *referents = ndr_take(r, 4, r->fault ? 0 : (size_t)slots * 4);
    for (uint32_t i = 0; referents && i < slots && !r->fault; i++) {
        if (!ndr_load_u32(referents + 4 * (size_t)i))
            continue;
        const uint32_t room = ndr_read_u32(r);
        const GUID id = ndr_read_guid(r);
        const uint32_t size = ndr_read_u32(r);
        const uint8_t *bytes = ndr_take(r, 1, room);
        if (size > room)
            ndr_fail(r, RPC_FAULT_BAD_STUB);
        if (bytes && !r->fault && expected && guid_equal(&id, expected))
            *found = ndr_reader_over(bytes, size);
    }
}

static uint32_t this_read(struct ndr_reader *r, GUID *causality)
{
    const uint16_t major = ndr_read_u16(r);
    ndr_read_u16(r);
    ndr_take(r, 4, 8);
    *causality = ndr_read_guid(r);
    if (ndr_read_u32(r))
        extensions_read(r, NULL, NULL);
    if (!r->fault && major != 5)
        ndr_fail(r, RPC_FAULT_VERSION);
    return r->fault;
}

void orpc_write_this(struct ndr_writer *w, const GUID *causality)
{
    write_version(w);
    ndr_write_u32(w, 0);
    ndr_write_u32(w, 0);
    ndr_write_guid(w, causality);
    ndr_write_u32(w, 0);
}

void orpc_read_that(struct ndr_reader *r, struct ndr_reader *error_info)
{
    struct ndr_reader ignored;
    if (error_info)
        *error_info = ndr_reader_over(NULL, 0);
    ndr_read_u32(r);
    if (ndr_read_u32(r))
        extensions_read(r, &extension_error_info, error_info ? error_info : &ignored);
}

/* Inserts the extension between ORPCTHAT, at the start of `out`, and the body. The extension is a multiple of 8 bytes
   long, so the body keeps its alignment. */
static void that_insert_extension(struct ndr_writer *out, const struct ndr_writer *data)
{
    struct ndr_writer whole = {.most = out->most};
    const size_t padded = (data->size + 7) & ~(size_t)7;
    ndr_write_u32(&whole, 0);
    ndr_write_u32(&whole, 0x20000);
    ndr_write_u32(&whole, 1); /* extensions */
    ndr_write_u32(&whole, 0);
    ndr_write_u32(&whole, 0x20004);
    ndr_write_u32(&whole, 2); /* slots */
    ndr_write_u32(&whole, 0x20008);
    ndr_write_u32(&whole, 0);
    ndr_write_u32(&whole, (uint32_t)padded);
    ndr_write_guid(&whole, &extension_error_info);
    ndr_write_u32(&whole, (uint32_t)data->size);
    ndr_write_bytes(&whole, data->bytes, data->size);
    ndr_add(&whole, 1, padded - data->size);
    ndr_write_bytes(&whole, out->bytes + 8, out->size - 8);
    whole.failed = whole.failed || data->failed;
    ndr_writer_free(out);
    *out = whole;
}

/* ---- servers and sessions ---- */

HRESULT orpc_server_open(const struct orpc_handler *handler, const struct orpc_limits *limits, struct orpc_server **out)
{
    *out = NULL;
    struct orpc_server *s = memory_zero(1, sizeof *s);
    HRESULT hr = s ? os_random(&s->oxid, sizeof s->oxid) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = os_random(&s->rem_unknown, sizeof s->rem_unknown);
    if (FAILED(hr)) {
        memory_free(s);
        return hr;
    }
    s->handler = *handler;
    s->limits = limits ? *limits : (struct orpc_limits){0};
    *out = s;
    return S_OK;
}

void orpc_server_close(struct orpc_server *s)
{
    if (!s)
        return;
    objects_free_all(s);
    while (s->sets) {
        struct ping_set *set = s->sets;
        s->sets = set->next;
        memory_free(set);
    }
    memory_free(s);
}

static bool is_of_dcom(const GUID *iid)
{
    return guid_equal(iid, &orpc_iid_object_exporter) || guid_equal(iid, &orpc_iid_scm_activator) ||
           guid_equal(iid, &orpc_iid_activation) || guid_equal(iid, &orpc_iid_rem_unknown) ||
           guid_equal(iid, &orpc_iid_rem_unknown2);
}

bool orpc_server_serves(struct orpc_server *s, const GUID *iid, uint32_t version)
{
    if (guid_equal(iid, &management))
        return version == 1;
    return !version && (is_of_dcom(iid) || s->handler.serves(s->handler.user, iid));
}

HRESULT orpc_session_open(struct orpc_server *server, const struct dual_strings *bindings, struct orpc_session **out)
{
    *out = memory_zero(1, sizeof **out);
    if (!*out)
        return E_OUTOFMEMORY;
    (*out)->server = server;
    (*out)->bindings = *bindings;
    (*out)->array_form = 2;
    return S_OK;
}

void orpc_session_close(struct orpc_session *s)
{
    if (!s)
        return;
    objects_forget_session(s);
    memory_free(s);
}

HRESULT orpc_export(struct orpc_call *call, void *object, const GUID *iid, struct objref *out)
{
    *out = (struct objref){.kind = OBJREF_STANDARD, .iid = *iid, .bindings = call->session->bindings};
    return objects_export(call->session, object, iid, call->account, ORPC_REFERENCES, call->now_ms, &out->standard);
}

uint32_t orpc_import(struct orpc_call *call, const struct objref *reference, const GUID *iid, void **pointer)
{
    struct orpc_server *s = call->session->server;
    struct remote_interface held;
    *pointer = NULL;
    if (reference->kind != OBJREF_STANDARD || reference->standard.oxid != s->oxid ||
        !objects_pin(call->session, &reference->standard.ipid, call->account, call->now_ms, &held))
        return RPC_FAULT_WRONG_OBJREF;
    const HRESULT hr = s->handler.query(s->handler.user, held.pointer, iid, pointer);
    objects_unpin(s, held.object);
    if (reference->standard.references)
        objects_release_references(s, &reference->standard.ipid, call->account, reference->standard.references);
    return FAILED(hr) ? (uint32_t)hr : 0;
}

/* ---- IRemUnknown, IRemUnknown2: MS-DCOM 3.1.1.5.6, 3.1.1.5.7 ---- */

static HRESULT query_result(const HRESULT *results, size_t count)
{
    size_t failed = 0;
    for (size_t i = 0; i < count; i++)
        failed += FAILED(results[i]);
    return !failed ? S_OK : failed < count ? S_FALSE : count ? results[0] : S_OK;
}

static uint32_t rem_query_interface(struct orpc_call *call, struct ndr_reader *in, struct ndr_writer *out)
{
    struct orpc_session *session = call->session;
    const bool is_first = call->opnum == QUERY_INTERFACE;
    const GUID ipid = ndr_read_guid(in);
    const uint32_t references = is_first ? ndr_read_u32(in) : ORPC_REFERENCES;
    const uint16_t count = ndr_read_u16(in);
    GUID iids[ORPC_IIDS_MOST];
    HRESULT results[ORPC_IIDS_MOST] = {0};
    struct std_objref objects[ORPC_IIDS_MOST] = {{0}};
    struct remote_interface held = {0};
    ndr_expect_u32(in, count);
    if (count > ORPC_IIDS_MOST || !references || references > REFERENCES_AT_ONCE)
        ndr_fail(in, RPC_FAULT_BAD_STUB);
    for (uint16_t i = 0; i < count && !in->fault; i++)
        iids[i] = ndr_read_guid(in);
    if (in->fault)
        return in->fault;
    const bool is_held = objects_pin(session, &ipid, call->account, call->now_ms, &held);
    for (uint16_t i = 0; i < count && !is_held; i++)
        results[i] = INVALID_OBJECT;
    if (is_first) {
        for (uint16_t i = 0; i < count && is_held; i++)
            results[i] =
                objects_export(session, held.pointer, &iids[i], call->account, references, call->now_ms, &objects[i]);
        ndr_write_u32(out, 0x20000);
        ndr_write_u32(out, count);
        for (uint16_t i = 0; i < count; i++) {
            ndr_add(out, 8, 0);
            ndr_write_u32(out, (uint32_t)results[i]);
            std_objref_write(out, &objects[i]);
        }
    } else {
        struct ndr_writer interfaces = {0};
        write_interfaces(call, held.pointer, iids, results, count, &interfaces);
        ndr_write_u32(out, count);
        for (uint16_t i = 0; i < count; i++)
            ndr_write_u32(out, (uint32_t)results[i]);
        ndr_write_bytes(out, interfaces.bytes, interfaces.size);
        out->failed = out->failed || interfaces.failed;
        ndr_writer_free(&interfaces);
    }
    if (is_held)
        objects_unpin(session->server, held.object);
    ndr_write_u32(out, (uint32_t)(is_held ? query_result(results, count) : INVALID_OBJECT));
    return 0;
}

static uint32_t rem_references(struct orpc_call *call, struct ndr_reader *in, struct ndr_writer *out)
{
    struct orpc_server *s = call->session->server;
    const uint16_t count = ndr_read_u16(in);
    ndr_expect_u32(in, count);
    if (count > RELEASES_MOST)
        ndr_fail(in, RPC_FAULT_BAD_STUB);
    struct ndr_reader check = *in; /* checks the whole body first, so that a malformed one changes nothing */
    for (uint16_t i = 0; i < count && !check.fault; i++) {
        ndr_read_guid(&check);
        const uint32_t public_count = ndr_read_u32(&check), private_count = ndr_read_u32(&check);
        if (public_count > REFERENCES_AT_ONCE || private_count > REFERENCES_AT_ONCE)
            ndr_fail(&check, RPC_FAULT_BAD_STUB);
    }
    if (check.fault)
        return check.fault;
    if (call->opnum == ADD_REFERENCES)
        ndr_write_u32(out, count);
    for (uint16_t i = 0; i < count; i++) {
        const GUID ipid = ndr_read_guid(in);
        uint32_t references = ndr_read_u32(in);
        references += ndr_read_u32(in);
        if (call->opnum == ADD_REFERENCES)
            ndr_write_u32(
                out, (uint32_t)(objects_add_references(s, &ipid, call->account, references) ? S_OK : INVALID_OBJECT));
        else
            objects_release_references(s, &ipid, call->account, references);
    }
    ndr_write_u32(out, 0);
    return 0;
}

uint32_t rem_unknown_call(struct orpc_call *call, struct ndr_reader *in, struct ndr_writer *out)
{
    switch (call->opnum) {
    case QUERY_INTERFACE2:
        if (!guid_equal(&call->iid, &orpc_iid_rem_unknown2))
            return RPC_FAULT_OPNUM;
        return rem_query_interface(call, in, out);
    case QUERY_INTERFACE:
        return rem_query_interface(call, in, out);
    case ADD_REFERENCES:
    case RELEASE:
        return rem_references(call, in, out);
    default:
        return RPC_FAULT_OPNUM;
    }
}

/* ---- calls ---- */

static uint32_t method_call(struct orpc_call *call, const GUID *ipid, struct ndr_reader *in, struct ndr_writer *out)
{
    struct orpc_server *s = call->session->server;
    struct remote_interface held;
    if (!objects_pin(call->session, ipid, call->account, call->now_ms, &held))
        return RPC_FAULT_DISCONNECTED;
    uint32_t fault;
    if (!guid_equal(&held.iid, &call->iid))
        fault = RPC_FAULT_WRONG_IPID;
    else if (call->opnum < FIRST_OF_INTERFACE)
        fault = RPC_FAULT_OPNUM;
    else
        fault = s->handler.call(s->handler.user, call, held.pointer, in, out);
    objects_unpin(s, held.object);
    return fault;
}

uint32_t orpc_session_call(struct orpc_session *session, const struct rpc_call *request, uint64_t now_ms,
                           struct ndr_writer *out)
{
    struct ndr_reader in = ndr_reader_over(request->stub, request->size);
    const GUID *iid = &request->iid;
    if (guid_equal(iid, &orpc_iid_object_exporter)) {
        const uint32_t fault = exporter_call(session, request, now_ms, &in, out);
        return fault ? fault : out->failed ? RPC_FAULT_NO_MEMORY : 0;
    }
    /* Windows clients use packet integrity for activation and reference counts. Methods require packet privacy (MS-PLA
       2.1). */
    const bool is_dcom = is_of_dcom(iid),
               is_rem_unknown = guid_equal(iid, &orpc_iid_rem_unknown) || guid_equal(iid, &orpc_iid_rem_unknown2);
    if (!request->account || request->level < (is_dcom ? AUTH_LEVEL_INTEGRITY : AUTH_LEVEL_PRIVACY) ||
        guid_equal(iid, &management))
        return RPC_FAULT_DENIED;
    if ((is_rem_unknown || !is_dcom) && !request->has_object)
        return RPC_FAULT_NO_OBJECT;
    struct orpc_call call = {.session = session,
                             .account = request->account,
                             .level = request->level,
                             .iid = *iid,
                             .opnum = request->opnum,
                             .now_ms = now_ms,
                             .array_form = &session->array_form};
    uint32_t fault = this_read(&in, &call.causality);
    if (fault)
        return fault;
    ndr_add(out, 8, 8); /* ORPCTHAT */
    if (guid_equal(iid, &orpc_iid_scm_activator))
        fault = activator_call(&call, &in, out);
    else if (guid_equal(iid, &orpc_iid_activation))
        fault = activation_call(&call, &in, out);
    else if (!is_rem_unknown)
        fault = method_call(&call, &request->object, &in, out);
    else
        fault = guid_equal(&request->object, &session->server->rem_unknown) ? rem_unknown_call(&call, &in, out)
                                                                            : RPC_FAULT_DISCONNECTED;
    if (!fault && call.error_info.size && !out->failed)
        that_insert_extension(out, &call.error_info);
    ndr_writer_free(&call.error_info);
    return fault ? fault : out->failed ? RPC_FAULT_NO_MEMORY : 0;
}

/* ---- client ---- */

void orpc_write_query(struct ndr_writer *w, const GUID *causality, const GUID *ipid, uint32_t references,
                      const GUID *iids, size_t count)
{
    orpc_write_this(w, causality);
    ndr_write_guid(w, ipid);
    ndr_write_u32(w, references);
    ndr_write_u16(w, (uint16_t)count);
    ndr_write_u32(w, (uint32_t)count);
    for (size_t i = 0; i < count; i++)
        ndr_write_guid(w, &iids[i]);
}

HRESULT orpc_read_query(struct ndr_reader *r, size_t count, struct std_objref *objects, HRESULT *results)
{
    orpc_read_that(r, NULL);
    if (ndr_read_u32(r)) {
        ndr_expect_u32(r, (uint32_t)count);
        for (size_t i = 0; i < count; i++) {
            ndr_take(r, 8, 0);
            results[i] = (HRESULT)ndr_read_u32(r);
            objects[i] = std_objref_read(r);
        }
    } else
        for (size_t i = 0; i < count; i++) {
            results[i] = E_NOINTERFACE;
            objects[i] = (struct std_objref){0};
        }
    return (HRESULT)ndr_read_u32(r);
}

void orpc_write_references(struct ndr_writer *w, const GUID *causality, const struct orpc_references *items,
                           size_t count)
{
    orpc_write_this(w, causality);
    ndr_write_u16(w, (uint16_t)count);
    ndr_write_u32(w, (uint32_t)count);
    for (size_t i = 0; i < count; i++) {
        ndr_write_guid(w, &items[i].ipid);
        ndr_write_u32(w, items[i].count);
        ndr_write_u32(w, 0);
    }
}

static void client_write_oids(struct ndr_writer *w, const uint64_t *oids, uint16_t count)
{
    ndr_write_u32(w, count ? 0x20000 : 0);
    if (!count)
        return;
    ndr_write_u32(w, count);
    for (uint16_t i = 0; i < count; i++)
        ndr_write_u64(w, oids[i]);
}

void orpc_write_complex_ping(struct ndr_writer *w, uint64_t set, uint16_t sequence, const uint64_t *add,
                             uint16_t add_count, const uint64_t *remove, uint16_t remove_count)
{
    ndr_write_u64(w, set);
    ndr_write_u16(w, sequence);
    ndr_write_u16(w, add_count);
    ndr_write_u16(w, remove_count);
    client_write_oids(w, add, add_count);
    client_write_oids(w, remove, remove_count);
}

uint32_t orpc_read_complex_ping(struct ndr_reader *r, uint64_t *set)
{
    *set = ndr_read_u64(r);
    ndr_read_u16(r);
    return ndr_read_u32(r);
}

/* SPDX-License-Identifier: MIT */
/* Bodies of calls on existing objects: methods, IRemUnknown and IObjectExporter, in any order, from two accounts, while
   time passes. The IPIDs and OIDs of the objects are inserted where the input requests them. */
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/rpc/dispatch.h"
#include "engine/rpc/orpc/objects.h"
#include "tests/rpc/made_up_class.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct orpc_server *server;
static struct orpc_session *sessions[2];
static uint64_t now_ms;

/* The index-th object that any client holds. */
static const struct remote_object *object_at(size_t index)
{
    const struct remote_object *o = server->objects;
    for (size_t i = 0; o && o->next && i < index; i++)
        o = o->next;
    return o;
}

static void activate(const char *account, struct orpc_session *session)
{
    struct ndr_writer request = {0}, answer = {0};
    const GUID asked[3] = {made_up_iid, dispatch_iid, enum_variant_iid};
    orpc_write_activation(&request, &made_up_iid, &made_up_class, asked, 3, false);
    const struct rpc_call call = {.iid = orpc_iid_scm_activator,
                                  .opnum = 4,
                                  .stub = request.bytes,
                                  .size = request.size,
                                  .account = account,
                                  .level = AUTH_LEVEL_PRIVACY};
    if (orpc_session_call(session, &call, now_ms, &answer))
        abort();
    ndr_writer_free(&request);
    ndr_writer_free(&answer);
}

/* The body of the input, with 0xF1 replaced by an IPID, 0xF2 by an OID, 0xF3 by an object reference. */
static void write_body(struct ndr_writer *w, const uint8_t *data, size_t size, const struct remote_object *o)
{
    for (size_t i = 0; i < size; i++)
        if (data[i] == 0xF1 && o)
            ndr_write_guid(w, &o->interfaces->ipid);
        else if (data[i] == 0xF2 && o)
            ndr_write_u64(w, o->oid);
        else if (data[i] == 0xF3 && o) {
            const struct objref reference = {
                .kind = OBJREF_STANDARD,
                .iid = made_up_iid,
                .standard = {.references = 1, .oxid = server->oxid, .oid = o->oid, .ipid = o->interfaces->ipid}};
            ndr_write_object(w, &reference);
        } else
            ndr_write_u8(w, data[i]);
}

/* Makes one call from the input: interface and account, opnum, object, length, body. */
static size_t one_call(const uint8_t *data, size_t size)
{
    const GUID *const iids[] = {&made_up_iid, &orpc_iid_rem_unknown2, &orpc_iid_object_exporter, &dispatch_iid,
                                &enum_variant_iid};
    const size_t length = data[3] < size - 4 ? data[3] : size - 4;
    const struct remote_object *o = object_at(data[2] % 8);
    struct ndr_writer body = {0}, answer = {0};
    const GUID *iid = iids[data[0] % 5];
    if (iid != &orpc_iid_object_exporter)
        orpc_write_this(&body, &made_up_iid);
    write_body(&body, data + 4, length, o);
    struct rpc_call call = {.iid = *iid,
                            .has_object = true,
                            .opnum = data[1] % 12,
                            .stub = body.bytes,
                            .size = body.size,
                            .account = data[0] & 0x80 ? "other" : "tester",
                            .level = AUTH_LEVEL_PRIVACY};
    call.object = iid == &orpc_iid_rem_unknown2 ? server->rem_unknown : o ? o->interfaces->ipid : made_up_iid;
    for (const struct remote_interface *i = o ? o->interfaces : NULL; i; i = i->next)
        if (guid_equal(&i->iid, iid))
            call.object = i->ipid;
    if (data[0] & 0x40)
        activate(call.account, sessions[0]);
    if (data[0] & 0x20)
        now_ms += 100;
    orpc_session_call(sessions[data[0] >> 4 & 1], &call, now_ms, &answer);
    orpc_server_run_down(server, now_ms);
    ndr_writer_free(&body);
    ndr_writer_free(&answer);
    return 4 + length;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct dual_strings bindings = {.count = 1, .addresses = {"127.0.0.1"}};
    const struct orpc_limits limits = {.objects = 6, .objects_of_account = 4, .run_down_ms = 1000};
    now_ms = 1;
    if (FAILED(orpc_server_open(&made_up_handler, &limits, &server)) ||
        FAILED(orpc_session_open(server, &bindings, &sessions[0])) ||
        FAILED(orpc_session_open(server, &bindings, &sessions[1])))
        abort();
    activate("tester", sessions[0]);
    activate("other", sessions[1]);
    while (size >= 4) {
        const size_t taken = one_call(data, size);
        data += taken;
        size -= taken;
    }
    orpc_session_close(sessions[0]);
    orpc_session_close(sessions[1]);
    orpc_server_close(server);
    if (made_up_objects())
        abort();
    return 0;
}

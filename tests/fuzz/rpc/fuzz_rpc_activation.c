/* SPDX-License-Identifier: MIT */
/* Activation properties: requests to the server, and replies to the client. A valid request or reply, partly
   overwritten with bytes of the input, reaches deeper code than arbitrary bytes. */
#include "engine/base/memory.h"
#include "engine/rpc/orpc/objects.h"
#include "tests/rpc/made_up_class.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ANSWER = 1, WHOLE = 2, OLD_INTERFACE = 4, FACTORY = 8 };

static void change(struct ndr_writer *w, const uint8_t *data, size_t size)
{
    for (size_t i = 0; i + 3 <= size && w->size; i += 3)
        w->bytes[ndr_load_u16(data + i) % w->size] = data[i + 2];
}

static void read_answer(const struct ndr_writer *w)
{
    struct ndr_arena arena = {0};
    struct orpc_activated a;
    struct ndr_reader r = ndr_reader_over(w->bytes, w->size);
    const HRESULT hr = orpc_read_activation(&r, &arena, &a);
    for (size_t i = 0; !r.fault && SUCCEEDED(hr) && i < a.count; i++)
        if (SUCCEEDED(a.results[i]) && !a.objects[i])
            abort();
    ndr_arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct dual_strings bindings = {.count = 1, .addresses = {"127.0.0.1"}};
    const GUID iids[2] = {made_up_iid, made_up_other_iid};
    struct orpc_server *server;
    struct orpc_session *session;
    struct ndr_writer request = {0}, answer = {0};
    if (!size)
        return 0;
    const uint8_t how = *data++;
    size--;
    if (FAILED(orpc_server_open(&made_up_handler, NULL, &server)) ||
        FAILED(orpc_session_open(server, &bindings, &session)))
        abort();
    if (how & WHOLE)
        orpc_write_this(&request, &made_up_iid);
    else
        orpc_write_activation(&request, &made_up_iid, &made_up_class, iids, 2, how & FACTORY);
    if (how & WHOLE)
        ndr_write_bytes(&request, data, size);
    else if (!(how & ANSWER))
        change(&request, data, size);
    const struct rpc_call call = {.iid = how & OLD_INTERFACE ? orpc_iid_activation : orpc_iid_scm_activator,
                                  .opnum = how & OLD_INTERFACE ? 0
                                           : how & FACTORY     ? 3
                                                               : 4,
                                  .stub = request.bytes,
                                  .size = request.size,
                                  .account = "tester",
                                  .level = AUTH_LEVEL_PRIVACY};
    if (!orpc_session_call(session, &call, 1, &answer)) {
        if (how & ANSWER)
            change(&answer, data, size);
        read_answer(&answer);
    }
    ndr_writer_free(&request);
    ndr_writer_free(&answer);
    orpc_session_close(session);
    orpc_server_close(server);
    if (made_up_objects())
        abort();
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* Calls with as much room as their answers take. */
#include "engine/pdh/remote/link_ask.h"

#include "engine/base/memory.h"
#include "engine/pdh/methods.h"

#define USUAL_ROOM (64u * 1024)
/* Nobody counts so much; a host that says so does not make us take its memory. */
#define MOST_ROOM  (64u * 1024 * 1024)
/* What is counted may have grown between two tries. */
#define MOST_TRIES 4

void link_answer_free(struct link_answer *answer)
{
    memory_free(answer->reply);
    *answer = (struct link_answer){0};
}

HRESULT link_answer_result(const struct link_answer *answer)
{
    return answer->said.status ? HRESULT_FROM_WIN32(answer->said.status) : S_OK;
}

static HRESULT ask_once(struct link *l, const struct ndr_call *call, struct link_answer *answer)
{
    uint8_t *request;
    size_t size, reply_size = 0;
    link_answer_free(answer);
    HRESULT hr = ndr_write_request(call, &request, &size);
    if (FAILED(hr))
        return hr;
    hr = l->kind->call(l, call->method, request, size, &answer->reply, &reply_size);
    memory_free(request);
    if (SUCCEEDED(hr))
        hr = ndr_read_reply(call, answer->reply, reply_size, &answer->said);
    if (FAILED(hr))
        link_answer_free(answer);
    return hr;
}

HRESULT link_ask(struct link *l, struct ndr_call *call, struct link_answer *answer)
{
    const uint32_t unit = call->method == PCQ_ENUMERATE_SETS ? sizeof(GUID) : 1;
    HRESULT hr = S_OK;
    if (!call->room)
        call->room = call->method == PCQ_ENUMERATE_SETS ? PCQ_MOST_SETS : USUAL_ROOM;
    for (unsigned tries = 0; tries < MOST_TRIES; tries++) {
        hr = ask_once(l, call, answer);
        if (FAILED(hr) || answer->said.status != PCQ_NOT_ENOUGH_MEMORY || unit > 1 ||
            answer->said.needed <= call->room || answer->said.needed > MOST_ROOM)
            break;
        call->room = answer->said.needed + answer->said.needed / 8;
    }
    return hr;
}

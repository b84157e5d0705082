/* SPDX-License-Identifier: MIT */
/* Tokens of NTLM and SPNEGO to both sides: whole tokens from the input, or valid tokens with a few bytes changed. A
   token that was created without the password must not log on. */
#include "engine/base/memory.h"
#include "engine/rpc/auth/ntlm.h"
#include "tests/rpc/made_up_class.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SPNEGO = 1, INITIATOR = 2, CHANGED = 4 };

/* The input is a sequence of tokens, each after its length. The tokens that `a` returns are dropped. */
static void whole_tokens(struct auth_context *a, const uint8_t *data, size_t size)
{
    while (size >= 2) {
        const size_t named = ndr_load_u16(data), length = named < size - 2 ? named : size - 2;
        uint8_t *exact = memory_copy(data + 2, length), *answer;
        size_t answer_size;
        if (!exact || FAILED(auth_step(a, exact, length, &answer, &answer_size)))
            answer = NULL;
        memory_free(exact);
        memory_free(answer);
        data += 2 + length;
        size -= 2 + length;
    }
    if (auth_is_done(a) && !(*auth_account(a)))
        abort();
}

/* The two sides talk; message, offset and value of each change come from the input. The initiator has no password. */
static void changed_tokens(struct auth_context *acceptor, struct auth_context *initiator, const uint8_t *data,
                           size_t size)
{
    uint8_t *token = NULL;
    size_t length = 0;
    for (unsigned message = 0; message < 6; message++) {
        uint8_t *answer;
        size_t answer_size;
        const HRESULT hr = auth_step(message % 2 ? acceptor : initiator, token, length, &answer, &answer_size);
        memory_free(token);
        token = answer;
        length = answer_size;
        if (FAILED(hr) || !token)
            break;
        for (size_t i = 0; i + 4 <= size; i += 4)
            if (data[i] % 8 == message)
                token[ndr_load_u16(data + i + 1) % length] = data[i + 3];
    }
    memory_free(token);
    if (auth_is_done(acceptor))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct auth_credentials credentials = {.user = "tester", .domain = "D"};
    struct auth_context *acceptor, *initiator;
    struct spnego_message ignored;
    if (!size)
        return 0;
    const enum auth_type type = *data & SPNEGO ? AUTH_SPNEGO : AUTH_NTLM;
    if (FAILED(auth_accept(type, &made_up_accounts, &acceptor)) ||
        FAILED(auth_initiate(type, &credentials, &initiator)))
        abort();
    spnego_read(data + 1, size - 1, &ignored);
    if (*data & CHANGED)
        changed_tokens(acceptor, initiator, data + 1, size - 1);
    else
        whole_tokens(*data & INITIATOR ? initiator : acceptor, data + 1, size - 1);
    auth_close(acceptor);
    auth_close(initiator);
    return 0;
}

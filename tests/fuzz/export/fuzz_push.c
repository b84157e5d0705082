/* SPDX-License-Identifier: MIT */
/* Any bytes as a file of openpla push's queue, as a server's response, and as a credentials file: no crash, and only
   what was written is read. */
#include "engine/base/memory.h"
#include "engine/export/formats/otlp.h"
#include "engine/export/push.h"
#include "engine/export/send/queue.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool right)
{
    if (!right)
        abort();
}

static void check_batch(const char *bytes, size_t size)
{
    struct push_batch b;
    if (FAILED(push_batch_read(bytes, size, &b))) {
        must(!b.bytes);
        return;
    }
    size_t again;
    char *copy = push_batch_write(&b, &again);
    must(copy && again == size && memcmp(copy + 48, bytes + 48, size - 48) == 0);
    memory_free(copy);
    push_batch_free(&b);
}

/* Uses the bytes as a body with one bit changed, so that the checks after the hash are reached. */
static void check_changed(const uint8_t *data, size_t size)
{
    struct push_batch b = {.kind = PUSH_OTLP, .points = 1, .size = size - 2, .bytes = (char *)data + 2}, read;
    size_t all;
    char *bytes = push_batch_write(&b, &all);
    must(bytes != NULL);
    bytes[(data[0] | data[1] << 8) % all] ^= (char)(1 << (data[0] & 7));
    must(FAILED(push_batch_read(bytes, all, &read)) || read.size == size - 2);
    push_batch_free(&read);
    memory_free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *copy = memory_alloc(size + 1); /* so that the sanitizer detects reads beyond the end */
    char message[32];
    uint64_t rejected;
    struct push_credentials c;
    must(copy != NULL);
    memcpy(copy, data, size);
    check_batch(copy, size);
    if (size > 2)
        check_changed(data, size);
    for (int failed = 0; failed < 2; failed++) {
        (void)otlp_read_answer((const char *)data, size, failed, &rejected, message, sizeof message);
        must(strlen(message) < sizeof message);
    }
    if (SUCCEEDED(push_credentials_parse((const char *)data, size, &c)))
        must((c.token && !c.user) || (!c.token && c.user && c.password));
    else
        must(!c.token && !c.user && !c.password);
    push_credentials_free(&c);
    memory_free(copy);
    return 0;
}

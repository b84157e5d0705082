/* SPDX-License-Identifier: MIT */
/* Any bytes as a payload filter, applied to any data: the filter is rejected, or is evaluated without access outside
   the filter and the data. */
#include "engine/etw/decode/payload_filter.h"
#include "engine/logs/little_endian.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct payload_filter *f;
    if (size < 4)
        return 0;
    const size_t own = get_u16(data) % (size - 3), rest = size - 2 - own;
    uint8_t *filter = malloc(own + 12), *payload = malloc(rest);
    if (!filter || !payload)
        abort();
    /* A valid header; otherwise nothing after it would ever be reached. */
    memcpy(filter, "OLPF\1\0\0\0\0\0\0\0", 12);
    filter[6] = data[2] & 7;
    put_u32(filter + 8, (uint32_t)(own + 12));
    memcpy(filter + 12, data + 2, own);
    memcpy(payload, data + 2 + own, rest);
    if (payload_filter_read(filter, own + 12, &f) == S_OK) {
        EVENT_DESCRIPTOR event = {.Id = 0};
        if (own >= 3) {
            event.Id = get_u16(filter + 12);
            event.Version = filter[14];
        }
        (void)payload_filter_passes(f, &event, payload, rest, data[3] & 1 ? 4 : 8);
        payload_filter_free(f);
    }
    free(filter);
    free(payload);
    return 0;
}

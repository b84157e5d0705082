/* SPDX-License-Identifier: MIT */
/* Opening a binary log to append to it. */
#ifndef OPENPLA_BLG_CONTINUE_H
#define OPENPLA_BLG_CONTINUE_H

#include "engine/logs/blg/blg_catalog.h"
#include "engine/logs/etl_file.h"
#include "engine/logs/log.h"

struct blg_old {
    struct etl_file *file;
    uint8_t instance[16];   /* GUID of the log */
    struct zone_rules zone; /* of its times */
    int64_t last_utc;       /* FILETIME of its last change */
};
/* Opens the log at `path`, which must have the catalog `catalog` to the byte, behind its last whole sample; what a
   crash left behind that goes with the next flush. S_FALSE: there is no file, or one that ends before its catalog does
   (it was never more, or was cut): it is to be begun anew and has nothing to lose. E_INVALIDARG: it logs other
   counters, or is circular; HRESULT_FROM_WIN32(ERROR_INVALID_DATA): it is no such log, or is damaged where a crash does
   not damage. */
HRESULT blg_continue(const char *path, const struct log_options *options, const struct blg_bytes *catalog,
                     size_t counters, struct blg_old *out);
/* Are these the first bytes of a log of ours, however few? `size` is not 0. */
bool blg_is_begun(const uint8_t *bytes, size_t size);

#endif

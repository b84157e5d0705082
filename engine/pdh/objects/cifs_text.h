/* SPDX-License-Identifier: MIT */
/* What the Linux kernel's client of SMB counts, /proc/fs/cifs/Stats, as numbers. A pure parser: text and size in. */
#ifndef OPENPLA_PDH_CIFS_TEXT_H
#define OPENPLA_PDH_CIFS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Those from CIFS_SESSIONS on are of the whole client, and stand before the first share. */
enum cifs_figure {
    CIFS_REQUESTS,
    CIFS_READS,
    CIFS_WRITES,
    CIFS_BYTES_READ,
    CIFS_BYTES_WRITTEN,
    CIFS_SHARE_FIGURES,
    CIFS_SESSIONS = CIFS_SHARE_FIGURES,
    CIFS_RECONNECTS,
    CIFS_UNDER_WAY, /* requests that wait for their answer */
    CIFS_FIGURES
};

/* Figures that are not told are INT64_MIN, those that are too large for the type INT64_MAX. */
struct cifs_part {
    const char *name; /* "\\server\share", in the text, not terminated; length 0: the client's own */
    size_t length;
    int64_t figures[CIFS_FIGURES];
};
/* The next part from *at on, which moves behind it: first the client's own, then one for each share; false at the end.
   Lines of another form are passed over. */
bool cifs_next(const char **at, const char *end, struct cifs_part *part);

#endif

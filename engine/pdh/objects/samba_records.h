/* SPDX-License-Identifier: MIT */
/* The databases of Samba's server, as files of its versions 4.17 and 4.22 show their form. Pure parsers: bytes in,
   which may be those of a file that is just being written. */
#ifndef OPENPLA_PDH_SAMBA_RECORDS_H
#define OPENPLA_PDH_SAMBA_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One file, while its records are gone through. */
struct samba_file {
    const uint8_t *bytes; /* borrowed */
    size_t size, at;
    bool damaged; /* something is there that is no record: what was read is not all */
};
struct samba_record {
    uint32_t id;         /* what the record is called by: of a session, a connection or an open file */
    const uint8_t *data; /* in the bytes */
    size_t size;
};
/* False: the bytes are no such file. */
bool samba_file_begin(struct samba_file *f, const void *bytes, size_t size);
/* The next record that is in use and has an id; false at the end, or where the file is damaged. */
bool samba_file_next(struct samba_file *f, struct samba_record *out);

/* A client's connection to a share. */
struct samba_connection {
    const char *share; /* in the record's data, not terminated */
    size_t length;
    uint32_t session; /* the id of its session */
};
/* False: the record is none, or in a form that is not known. */
bool samba_connection_read(const struct samba_record *record, struct samba_connection *out);

#endif

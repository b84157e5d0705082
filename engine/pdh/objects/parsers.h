/* SPDX-License-Identifier: MIT */
/* Pure parsers behind counter objects: the kernel's SMB client, graphics drivers, Samba's databases. */
#ifndef OPENPLA_PDH_PARSERS_H
#define OPENPLA_PDH_PARSERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the Linux kernel's client of SMB counts, /proc/fs/cifs/Stats, as numbers. A pure parser: text and size in. */

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

/* What graphics drivers of the Linux kernel tell of an open file of theirs, /proc/<id>/fdinfo/<file>, as numbers. A
   pure parser: text and size in. */
#define DRM_ENGINES     16 /* of one file; those beyond are left out */
#define DRM_ENGINE_NAME 24 /* with its NUL; longer names are cut */

struct drm_engine {
    char name[DRM_ENGINE_NAME]; /* the driver's: "render", "gfx", "video-enhance" */
    int64_t busy;               /* ns so far, of one of its units if it has several */
};
/* Memory in bytes; INT64_MIN: not told. */
struct drm_memory {
    int64_t committed;         /* all that was asked for */
    int64_t dedicated, shared; /* what is there now in the card's own memory, and in the computer's */
};
struct drm_file {
    uint64_t client; /* two files of one client tell the same figures */
    bool has_client;
    uint32_t device; /* drm_device() */
    struct drm_engine engines[DRM_ENGINES];
    size_t engine_count;
    struct drm_memory memory;
};
/* False: the text is not of a graphics driver's file. */
bool drm_file_parse(const char *text, size_t size, struct drm_file *out);

/* What Windows calls such an engine: "3D" for "render". Another name as it is, borrowed. */
const char *drm_engine_type(const char *name);

/* The databases of Samba's server, as files of its versions 4.17 and 4.22 show their form. Pure parsers: bytes in,
   which may be those of a file that is just being written. */

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

/* SPDX-License-Identifier: MIT */
/* Parsers for counter objects: the statistics of the kernel's SMB client, of graphics drivers, and of Samba's
   databases. The parsers are pure functions that convert bytes to numbers. */
#ifndef OPENPLA_PDH_PARSERS_H
#define OPENPLA_PDH_PARSERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The statistics of the Linux kernel's SMB client, /proc/fs/cifs/Stats. */

/* The numbers before CIFS_SESSIONS belong to each share; the others belong to the whole client and precede the first
   share in the file. */
enum cifs_figure {
    CIFS_REQUESTS,
    CIFS_READS,
    CIFS_WRITES,
    CIFS_BYTES_READ,
    CIFS_BYTES_WRITTEN,
    CIFS_SHARE_FIGURES,
    CIFS_SESSIONS = CIFS_SHARE_FIGURES,
    CIFS_RECONNECTS,
    CIFS_UNDER_WAY, /* requests that wait for a reply */
    CIFS_FIGURES
};

/* A missing number is INT64_MIN; a number that exceeds the type becomes INT64_MAX. */
struct cifs_part {
    const char *name; /* "\\server\share", points into the text, not terminated; if `length` is 0, the part belongs to
                         the client itself */
    size_t length;
    int64_t figures[CIFS_FIGURES];
};
/* Parses the next part from *at on and moves *at past it. The first part is the client itself; every other part is a
   share. Skips other lines. False at the end. */
bool cifs_next(const char **at, const char *end, struct cifs_part *part);

/* What a graphics driver of the Linux kernel reports about one of its open files, /proc/<id>/fdinfo/<file>. */
#define DRM_ENGINES     16 /* maximum per file; further engines are ignored */
#define DRM_ENGINE_NAME 24 /* including the NUL; longer names are truncated */

struct drm_engine {
    char name[DRM_ENGINE_NAME]; /* the engine's name in the driver: "render", "gfx", "video-enhance" */
    int64_t busy;               /* total in ns; if the engine has several units, the total divided by their number */
};
/* Memory in bytes; INT64_MIN: not reported. */
struct drm_memory {
    int64_t committed;         /* all requested memory */
    int64_t dedicated, shared; /* memory in use on the card and in the system */
};
struct drm_file {
    uint64_t client; /* files of the same client have the same number */
    bool has_client;
    uint32_t device; /* drm_device() */
    struct drm_engine engines[DRM_ENGINES];
    size_t engine_count;
    struct drm_memory memory;
};
/* Parses the file. False if the text does not come from a graphics driver. */
bool drm_file_parse(const char *text, size_t size, struct drm_file *out);

/* Returns Windows' name of an engine: "3D" for "render". Unknown names are returned unchanged; borrowed. */
const char *drm_engine_type(const char *name);

/* The databases of Samba's server, in the format of its versions 4.17 and 4.22. The bytes may come from a file that is
   being written. */

/* The state of iterating over one file. */
struct samba_file {
    const uint8_t *bytes; /* borrowed */
    size_t size, at;
    bool corrupt; /* some bytes are not a record, so the records after them are missing */
};
struct samba_record {
    uint32_t id;         /* the id in the record's key: a session's, a connection's or an open file's id */
    const uint8_t *data; /* points into the file's bytes */
    size_t size;
};
/* Starts the iteration. False if the bytes are not such a file. */
bool samba_file_begin(struct samba_file *f, const void *bytes, size_t size);
/* Returns the next record that is in use and has an id. False at the end or if the file is corrupt. */
bool samba_file_next(struct samba_file *f, struct samba_record *out);

/* A client's connection to a share. */
struct samba_connection {
    const char *share; /* points into the record's data, not terminated */
    size_t length;
    uint32_t session; /* id of the client's session */
};
/* Parses a connection. False if the record is not a connection or has an unknown format. */
bool samba_connection_read(const struct samba_record *record, struct samba_connection *out);

#endif

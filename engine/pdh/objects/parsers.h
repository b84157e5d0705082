/* SPDX-License-Identifier: MIT */
/* Parsers behind counter objects: the kernel's SMB client, graphics drivers, and Samba's databases. They are pure
   functions from bytes to numbers. */
#ifndef OPENPLA_PDH_PARSERS_H
#define OPENPLA_PDH_PARSERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The statistics of the Linux kernel's SMB client, /proc/fs/cifs/Stats. */

/* The numbers from CIFS_SESSIONS on belong to the whole client and precede the first share. */
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

/* A missing number is INT64_MIN; one that exceeds the type is INT64_MAX. */
struct cifs_part {
    const char *name; /* "\\server\share" in the text, not terminated; length 0: the client itself */
    size_t length;
    int64_t figures[CIFS_FIGURES];
};
/* Parses the next part from *at on and moves *at after it: first the client itself, then each share. False at the end.
   Skips other lines. */
bool cifs_next(const char **at, const char *end, struct cifs_part *part);

/* What graphics drivers of the Linux kernel report about one of their open files, /proc/<id>/fdinfo/<file>. */
#define DRM_ENGINES     16 /* per file; further ones are ignored */
#define DRM_ENGINE_NAME 24 /* with NUL; longer names are truncated */

struct drm_engine {
    char name[DRM_ENGINE_NAME]; /* the driver's name: "render", "gfx", "video-enhance" */
    int64_t busy;               /* total in ns; of one unit if the engine has several */
};
/* Memory in bytes; INT64_MIN: not reported. */
struct drm_memory {
    int64_t committed;         /* everything that was requested */
    int64_t dedicated, shared; /* current memory on the card and in the system */
};
struct drm_file {
    uint64_t client; /* files of the same client have the same numbers */
    bool has_client;
    uint32_t device; /* drm_device() */
    struct drm_engine engines[DRM_ENGINES];
    size_t engine_count;
    struct drm_memory memory;
};
/* False if the text is not that of a graphics driver's file. */
bool drm_file_parse(const char *text, size_t size, struct drm_file *out);

/* Windows' name of such an engine: "3D" for "render". Unknown names are returned unchanged; borrowed. */
const char *drm_engine_type(const char *name);

/* The databases of Samba's server, in the format of its versions 4.17 and 4.22. The bytes may come from a file that is
   being written. */

/* The state of iterating over one file. */
struct samba_file {
    const uint8_t *bytes; /* borrowed */
    size_t size, at;
    bool corrupt; /* found bytes that are not a record, so the entries read so far are incomplete */
};
struct samba_record {
    uint32_t id;         /* the id in the record's key: of a session, a connection or an open file */
    const uint8_t *data; /* points into the file's bytes */
    size_t size;
};
/* False if the bytes are not such a file. */
bool samba_file_begin(struct samba_file *f, const void *bytes, size_t size);
/* Returns the next record that is in use and has an id. False at the end or if the file is corrupt. */
bool samba_file_next(struct samba_file *f, struct samba_record *out);

/* A client's connection to a share. */
struct samba_connection {
    const char *share; /* points into the record's data, not terminated */
    size_t length;
    uint32_t session; /* id of its session */
};
/* False if the record is not a connection or has an unknown format. */
bool samba_connection_read(const struct samba_record *record, struct samba_connection *out);

#endif

/* SPDX-License-Identifier: MIT */
/* What graphics drivers of the Linux kernel tell of an open file of theirs, /proc/<id>/fdinfo/<file>, as numbers. A
   pure parser: text and size in. */
#ifndef OPENPLA_PDH_DRM_TEXT_H
#define OPENPLA_PDH_DRM_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* The number of a PCI device of which the text says "0000:03:00.0": domain, bus, device and function, 16, 8, 5 and 3
   bits. 0: it is none. */
uint32_t drm_device(const char *p, const char *end);

/* What Windows calls such an engine: "3D" for "render". Another name as it is, borrowed. */
const char *drm_engine_type(const char *name);

/* Adds without overflow; what is not told adds nothing, and two of those remain untold. */
int64_t drm_sum(int64_t a, int64_t b);

#endif

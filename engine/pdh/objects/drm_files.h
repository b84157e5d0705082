/* SPDX-License-Identifier: MIT */
/* The open files of graphics drivers, by process: found by looking at every open file of every process that this user
   may look at, a bounded number in each sample, all of them anew in ten seconds or later; then read through handles
   that are kept. Without a graphics card nothing is looked at. */
#ifndef OPENPLA_PDH_DRM_FILES_H
#define OPENPLA_PDH_DRM_FILES_H

#include "engine/pdh/core/kept_files.h"
#include "engine/pdh/objects/drm_text.h"

/* What one process has on one card. */
struct drm_process {
    uint32_t id, device; /* the host's id; drm_device() */
    struct drm_engine engines[DRM_ENGINES];
    size_t engine_count;
    struct drm_memory memory;
};
/* One that asks a card for something, in one process: what two files of one process share is told once. */
struct drm_client {
    uint32_t process, device;
    uint64_t id;
    bool has_id;
    struct drm_memory memory;
};
struct drm_place {
    uint32_t process, file;
};
/* Zero-initialise. */
struct drm_files {
    struct kept_files kept;
    struct kept_folder cards; /* /sys/class/drm: "card0", and its connectors, "card0-DP-1" */
    struct drm_place *places; /* files of graphics drivers, sorted */
    size_t place_count, place_capacity;
    uint32_t *ids; /* the processes of the look under way */
    size_t id_count, id_next;
    uint64_t looked; /* when it began, clock_monotonic_ms(); 0: never */
    struct drm_process *processes;
    size_t process_count, process_capacity;
    struct drm_client *clients;
    size_t client_count, client_capacity;
};
/* Finds the cards. ERROR_FILE_NOT_FOUND's HRESULT without one. `root` is put before the paths. */
HRESULT drm_files_cards(struct drm_files *d, const char *root);
/* Fills `processes` and `clients` anew. E_OUTOFMEMORY. */
HRESULT drm_files_read(struct drm_files *d, const char *root);
void drm_files_close(struct drm_files *d);

#endif

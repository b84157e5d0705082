/* SPDX-License-Identifier: MIT */
/* Saves a run record as given, because the product only changes existing records. */
#ifndef OPENPLA_SAVE_RUN_H
#define OPENPLA_SAVE_RUN_H

#include "engine/pla/store.h"

static HRESULT put_record(struct run_record *to, const void *user)
{
    const struct run_record *from = user;
    HRESULT hr = run_record_set_text(&to->latest_location, from->latest_location);
    if (SUCCEEDED(hr))
        hr = run_record_set_text(&to->last_message, from->last_message);
    if (SUCCEEDED(hr))
        hr = texts_copy(&to->latest_files, &from->latest_files);
    to->serial_number = from->serial_number;
    to->last_result = from->last_result;
    to->running = from->running;
    to->last_scheduled = from->last_scheduled;
    return hr;
}

static HRESULT save_run(const char *space, const char *name, const struct run_record *record)
{
    return store_update_run(space, name, &(struct run_change){put_record, record});
}

#endif

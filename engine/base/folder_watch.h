/* SPDX-License-Identifier: MIT */
/* Notices that something in a folder has changed: files made, replaced, written, renamed or deleted. */
#ifndef OPENPLA_FOLDER_WATCH_H
#define OPENPLA_FOLDER_WATCH_H

#include "engine/base/error.h"

struct folder_watch;
/* Watches the folder itself, not those below it. HRESULT of ERROR_PATH_NOT_FOUND or ERROR_FILE_NOT_FOUND when there is
   none. Changes from now on are noticed, also those that come before the first wait. */
HRESULT folder_watch_open(const char *path, struct folder_watch **out);
/* One more folder, before the first wait; FOLDERS_WATCHED at the most: E_INVALIDARG. */
#define FOLDERS_WATCHED 8
HRESULT folder_watch_add(struct folder_watch *w, const char *path);
/* One thread at a time. S_OK: something has changed, or folder_watch_wake was called; S_FALSE: nothing for timeout_ms.
   A failure: the folder is not watched any more (it was deleted). */
HRESULT folder_watch_wait(struct folder_watch *w, uint32_t timeout_ms);
/* From any thread: ends the present or the next wait. */
void folder_watch_wake(struct folder_watch *w);
void folder_watch_close(struct folder_watch *w); /* NULL is allowed */

#endif

/* SPDX-License-Identifier: MIT */
/* One step of a plan, done in the folder that has the mark of its record when it is opened. */
#ifndef OPENPLA_FOLDER_STEP_H
#define OPENPLA_FOLDER_STEP_H

#include "engine/pla/retention/scan.h"

/* What a step has met that no run has made. */
struct folder_kept {
    size_t count;
    char first[256]; /* the name of one, or as much of it */
};
struct folder_work {
    const char *root;
    const struct folder_record *record;
    const struct content_names *names;
    struct folder_kept *kept; /* filled by each step */
};
/* E_ACCESSDENIED for each of them: the folder has the mark no more. S_FALSE: there was nothing to do. */

/* Of all but cabinets, the reports first: beside its name, read back, compared with the files, then renamed. Nothing is
   left of one that fails. PLA_E_CABAPI_FAILURE, also where a file that no run has made has its name. */
HRESULT folder_pack(const struct folder_work *w);
/* The data that runs have made, with folders of theirs that become empty. `packed`: only if the folder's cabinet holds
   each of them as it is; else nothing, and PLA_E_CABAPI_FAILURE. A file that cannot be deleted (in use) does not keep
   the others; the first such failure is returned. */
HRESULT folder_delete_data(const struct folder_work *w, bool packed);
HRESULT folder_delete_cabinet(const struct folder_work *w);
HRESULT folder_delete_reports(const struct folder_work *w);
/* All in it that runs have made, the mark last, and the folder itself unless something else is kept: from then on it is
   no set's. `empty`: only if nothing of a run is in it but the mark. */
HRESULT folder_remove(const struct folder_work *w, bool empty);
/* The same by its path, of a run of whichever set, by the mark alone. E_ACCESSDENIED: it has none. */
HRESULT folder_remove_marked(const char *path, struct folder_kept *kept);

#endif

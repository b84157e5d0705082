/* SPDX-License-Identifier: MIT */
/* Report, document of the page, sheet, file. */
#include "engine/report/page.h"

#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/report/make/report_draft.h"
#include "engine/report/page/page_sheet.h"
#include "engine/report/page_document.h"

#include <string.h>

#define MOST_CELLS 16000 /* of a page; about 1.2 MB */

struct making {
    const struct page_make *make;
    char *page;
    size_t size;
};

static HRESULT cancelled(HRESULT hr)
{
    return hr == HRESULT_FROM_WIN32(ERROR_CANCELLED) ? error_set(hr, "the page was stopped; there is no new one") : hr;
}

static HRESULT transform_share(struct making *m, size_t cells, struct texts *remarks)
{
    const struct page_make *make = m->make;
    struct text_buffer document = {0};
    HRESULT hr =
        page_document_make(make->report, &(struct page_bounds){cells, make->stop, make->context}, &document, remarks);
    const char *sheet = make->picture ? page_sheet_svg : page_sheet_html;
    m->size = document.length;
    if (SUCCEEDED(hr) && document.length <= 2 * PAGE_MOST_BYTES) /* else the page is too large, too */
        hr = page_transform(
            &(struct page_part){make->picture ? "the sheet of pictures" : "the sheet of pages", sheet, strlen(sheet)},
            &(struct page_part){make->report, document.text, document.length}, &m->page, &m->size);
    text_buffer_free(&document);
    return hr;
}

/* Rows have a usual size; where they are larger, as when all of them are paths, there are fewer of them. */
static HRESULT transform(struct making *m, struct texts *remarks)
{
    struct texts again = {0};
    size_t cells = MOST_CELLS;
    HRESULT hr = transform_share(m, cells, remarks);
    while (SUCCEEDED(hr) && m->size > PAGE_MOST_BYTES && cells) {
        memory_free(m->page);
        m->page = NULL;
        cells /= 4;
        hr = transform_share(m, cells, &again);
    }
    texts_free(&again);
    if (SUCCEEDED(hr) && m->size > PAGE_MOST_BYTES)
        hr = error_set(HRESULT_FROM_WIN32(ERROR_FILE_TOO_LARGE), "%s: its page would have %llu bytes, more than %llu",
                       m->make->report, (unsigned long long)m->size, (unsigned long long)PAGE_MOST_BYTES);
    return hr;
}

static HRESULT transform_by_own(struct making *m)
{
    const struct page_make *make = m->make;
    struct page_part sheet = {.name = make->sheet}, report = {.name = make->report};
    char *sheet_text = NULL, *report_text = NULL;
    HRESULT hr = file_load(make->sheet, SHEET_MOST_BYTES, &sheet_text, &sheet.size);
    if (SUCCEEDED(hr))
        hr = file_load(make->report, PAGE_MOST_INPUT, &report_text, &report.size);
    sheet.xml = sheet_text;
    report.xml = report_text;
    if (SUCCEEDED(hr))
        hr = page_transform(&sheet, &report, &m->page, &m->size);
    memory_free(sheet_text);
    memory_free(report_text);
    return hr;
}

static HRESULT write_page(const struct making *m)
{
    const struct page_make *make = m->make;
    char *draft = text_format("%s.new", make->output);
    struct file *f = NULL;
    if (!draft)
        return E_OUTOFMEMORY;
    HRESULT hr = report_draft_open(make->base, draft, &f);
    if (SUCCEEDED(hr)) {
        hr = file_write(f, m->page, m->size);
        if (SUCCEEDED(hr))
            hr = file_flush(f);
        file_close(f);
        if (SUCCEEDED(hr))
            hr = file_rename(draft, make->output);
        const struct error_kept why = error_keep(hr);
        if (FAILED(hr))
            report_draft_drop(make->base, draft);
        hr = FAILED(hr) ? error_restore(&why) : S_OK;
    }
    memory_free(draft);
    return hr;
}

HRESULT page_make(const struct page_make *make, struct texts *remarks)
{
    struct making m = {.make = make};
    HRESULT hr = make->sheet && !make->picture ? transform_by_own(&m) : transform(&m, remarks);
    if (SUCCEEDED(hr))
        hr = write_page(&m);
    const struct error_kept why = error_keep(cancelled(hr));
    memory_free(m.page);
    return FAILED(why.hr) ? error_restore(&why) : S_OK;
}

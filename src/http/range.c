/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One range is a plain 206; several are multipart/byteranges (RFC 9110 14.6), each part with type
 * and place.  What a request may ask for is bounded by proto/range: parts that would cost more than
 * the file itself are not made, the whole file is sent instead.
 */
#include "http/range.h"

#include "core/rand.h"
#include "http/request.h"
#include "proto/range.h"

#include <inttypes.h>

/* More than max_ranges could be are never looked at, whatever max_ranges says. */
#define RANGES_ROOM 1024

bool range_asked(const struct request *r)
{
    return r->meta.first[FIELD_RANGE] != 0 && r->line.method == METHOD_GET &&
           r->loc->conf->max_ranges != 0;
}

static bool content_range(struct request *r, const struct range *range, uint64_t size)
{
    struct str value = range != NULL
                           ? arena_printf(&r->mem, "bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64,
                                          range->start, range->start + range->length - 1, size)
                           : arena_printf(&r->mem, "bytes */%" PRIu64, size);
    return value.p != NULL && header_add(r, STR("Content-Range"), value);
}

static enum verdict unsatisfiable(struct request *r, uint64_t size)
{
    enum verdict v = response_error(r, 416);
    if (v == VERDICT_DONE)
        content_range(r, NULL, size);
    return v;
}

static enum verdict single(struct request *r, const struct range *range)
{
    struct response *res = &r->res;
    uint64_t size = res->length;
    if (!content_range(r, range, size))
        return response_error(r, 500);
    res->status = 206;
    res->off += range->start;
    res->length = range->length;
    return VERDICT_DONE;
}

/* The delimiter and fields in front of a part; the type is that of the whole. */
static struct str part_head(struct request *r, uint64_t boundary, const struct range *range,
                            uint64_t size)
{
    const struct response *res = &r->res;
    struct str charset = http_charset(r->loc->conf, res->content_type);
    return arena_printf(&r->mem,
                        "\r\n--%016" PRIx64 "\r\nContent-Type: " STR_FMT "%s" STR_FMT
                        "\r\nContent-Range: bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64 "\r\n\r\n",
                        boundary, STR_ARG(res->content_type), charset.n != 0 ? "; charset=" : "",
                        STR_ARG(charset), range->start, range->start + range->length - 1, size);
}

static enum verdict several(struct request *r, const struct range *ranges, size_t n)
{
    struct response *res = &r->res;
    uint64_t size = res->length, total = 0, boundary = rand_u64();
    struct body_part *parts = arena_array(&r->mem, n + 1, sizeof(*parts));
    for (size_t i = 0; parts != NULL && i < n; i++) {
        parts[i].head = part_head(r, boundary, &ranges[i], size);
        parts[i].off = res->off + ranges[i].start;
        parts[i].length = ranges[i].length;
        total += parts[i].head.n + ranges[i].length;
    }
    struct str type = arena_printf(&r->mem, "multipart/byteranges; boundary=%016" PRIx64,
                                   boundary);
    struct str tail = arena_printf(&r->mem, "\r\n--%016" PRIx64 "--\r\n", boundary);
    if (parts == NULL || arena_overflowed(&r->mem))
        return response_error(r, 500);
    parts[n].head = tail;
    res->status = 206;
    res->content_type = type;
    res->body = BODY_PARTS;
    res->parts = parts;
    res->part_count = n + 1;
    res->length = total + tail.n;
    return VERDICT_DONE;
}

enum verdict range_apply(struct request *r, bool applies)
{
    struct response *res = &r->res;
    struct range ranges[RANGES_ROOM];
    struct str value;
    size_t n = 0;
    if (!applies || !request_field(r, FIELD_RANGE, &value))
        return VERDICT_DONE;
    int64_t max = r->loc->conf->max_ranges;
    switch (range_parse(value, res->length, max < RANGES_ROOM ? (size_t)max : RANGES_ROOM, ranges,
                        &n)) {
    case RANGE_IGNORE:
        return VERDICT_DONE;
    case RANGE_UNSATISFIABLE:
        return unsatisfiable(r, res->length);
    case RANGE_OK:
        break;
    }
    res->head_cacheable = false;
    return n == 1 ? single(r, &ranges[0]) : several(r, ranges, n);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading configuration files.  The checks of the text are stricter than libyaml's and come first,
 * because libyaml names only a byte offset for what it cannot read.
 */
#include "conf/source.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* One character of UTF-8; n 0: the bytes are none. */
struct utf8_char {
    uint32_t code;
    size_t n;
};

static struct utf8_char take_char(struct str s)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char c = (unsigned char)s.p[0];
    size_t n = c < 0x80 ? 1 : c < 0xC2 ? 0 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : c < 0xF5 ? 4 : 0;
    if (n == 1)
        return (struct utf8_char){c, 1};
    if (n == 0 || n > s.n)
        return (struct utf8_char){c, 0};
    uint32_t code = c & (0x7Fu >> n);
    for (size_t i = 1; i < n; i++) {
        unsigned char t = (unsigned char)s.p[i];
        if ((t & 0xC0) != 0x80)
            return (struct utf8_char){c, 0};
        code = code << 6 | (t & 0x3F);
    }
    if (code < least[n] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000))
        return (struct utf8_char){c, 0};
    return (struct utf8_char){code, n};
}

/* The characters YAML allows to stand in a file (YAML 1.1, 5.1). */
static bool printable(uint32_t c)
{
    return c == '\t' || c == '\n' || c == '\r' || (c >= 0x20 && c < 0x7F) || c == 0x85 ||
           (c >= 0xA0 && c < 0xFFFE && c != 0xFEFF) || c >= 0x10000;
}

bool source_is_utf8(struct str s)
{
    while (s.n != 0) {
        struct utf8_char c = take_char(s);
        if (c.n == 0)
            return false;
        s = str_skip(s, c.n);
    }
    return true;
}

static const char *foreign_encoding(struct str t)
{
    if (str_starts(t, str_make("\xFF\xFE\0\0", 4)) || str_starts(t, str_make("\0\0\xFE\xFF", 4)))
        return "UTF-32";
    if (str_starts(t, STR("\xFF\xFE")) || str_starts(t, STR("\xFE\xFF")))
        return "UTF-16";
    return NULL;
}

bool source_check(struct diag *d, const struct source *s)
{
    if (s->foreign != NULL) {
        diag_error(d, (struct pos){s->name, 0, 0}, STR_NONE, "the file is %s, expected UTF-8",
                   s->foreign);
        return false;
    }
    for (size_t at = 0; at < s->text.n;) {
        unsigned char byte = (unsigned char)s->text.p[at];
        if (byte >= 0x20 && byte < 0x7F) {
            at++;
            continue;
        }
        struct utf8_char c = take_char(str_skip(s->text, at));
        if (c.n == 0) {
            diag_error(d, source_pos(s, at), STR_NONE,
                       "byte 0x%02X is not valid UTF-8, expected UTF-8 text", byte);
            return false;
        }
        if (!printable(c.code)) {
            diag_error(d, source_pos(s, at), STR_NONE,
                       c.code == 0 ? "a NUL byte, expected UTF-8 text"
                                   : "control character U+%04X, expected UTF-8 text",
                       c.code);
            return false;
        }
        at += c.n;
    }
    return true;
}

/* Does a line end with the byte at i? CR LF ends it at the LF. */
static bool ends_line(struct str t, size_t i)
{
    return t.p[i] == '\n' || (t.p[i] == '\r' && !(i + 1 < t.n && t.p[i + 1] == '\n'));
}

static bool index_lines(struct arena *a, struct source *s)
{
    size_t count = 1;
    for (size_t i = 0; i < s->text.n; i++)
        count += ends_line(s->text, i);
    s->lines = arena_array(a, count, sizeof(*s->lines));
    if (s->lines == NULL)
        return false;
    s->line_count = 1;
    for (size_t i = 0; i < s->text.n; i++)
        if (ends_line(s->text, i))
            s->lines[s->line_count++] = (uint32_t)(i + 1);
    return true;
}

/* Takes over text that lies in the arena. */
static struct source *make_source(struct arena *a, const char *name, struct str text)
{
    struct source *s = ARENA_NEW(a, struct source);
    if (s == NULL)
        return NULL;
    s->name = name;
    s->foreign = foreign_encoding(text);
    s->text = str_starts(text, STR("\xEF\xBB\xBF")) ? str_skip(text, 3) : text;
    s->ascii = true;
    for (size_t i = 0; i < s->text.n && s->ascii; i++)
        s->ascii = (unsigned char)s->text.p[i] < 0x80;
    return index_lines(a, s) ? s : NULL;
}

struct source *source_from_text(struct arena *a, const char *name, struct str text)
{
    struct str copy = arena_str(a, text);
    return copy.p == NULL ? NULL : make_source(a, name, copy);
}

/* Is it a file that may be read, and by whom was it made? */
static bool check_file(struct diag *d, const char *path, const struct stat *st, struct pos at,
                       struct str where)
{
    if (S_ISDIR(st->st_mode))
        diag_error(d, at, where, "\"%s\" is a directory, expected a file", path);
    else if (!S_ISREG(st->st_mode))
        diag_error(d, at, where, "\"%s\" is not a regular file", path);
    else if (st->st_size > (off_t)SOURCE_SIZE_MAX)
        diag_error(d, at, where, "\"%s\" is larger than %u MiB", path, SOURCE_SIZE_MAX >> 20);
    else if ((st->st_mode & S_IWOTH) != 0 && geteuid() == 0)
        diag_error(d, at, where,
                   "\"%s\" can be written by everybody, refused when root starts the server "
                   "(chmod o-w)",
                   path);
    else
        return true;
    return false;
}

/* Reads all of it; a file that is being rewritten meanwhile is refused, not half read. */
static struct str read_all(struct arena *a, struct diag *d, int fd, const struct stat *st,
                           struct pos at, struct str where, const char *path)
{
    size_t size = (size_t)st->st_size, got = 0;
    char *text = arena_bytes(a, size + 1);
    while (text != NULL && got <= size) {
        ssize_t n = read(fd, text + got, size + 1 - got);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            diag_error(d, at, where, "cannot read \"%s\": %s", path, strerror(errno));
            return STR_NONE;
        }
        if (n == 0)
            break;
        got += (size_t)n;
    }
    if (text == NULL)
        return STR_NONE;
    struct stat after;
    if (got != size || fstat(fd, &after) != 0 || after.st_size != st->st_size ||
        after.st_mtim.tv_sec != st->st_mtim.tv_sec ||
        after.st_mtim.tv_nsec != st->st_mtim.tv_nsec) {
        diag_error(d, at, where, "\"%s\" changed while it was read", path);
        return STR_NONE;
    }
    text[size] = '\0';
    return str_make(text, size);
}

struct source *source_read(struct arena *a, struct diag *d, const char *path, struct pos at,
                           struct str where)
{
    /* O_NONBLOCK: opening a FIFO that nobody writes must not hang the start */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        diag_error(d, at, where, "cannot open \"%s\": %s", path, strerror(errno));
        return NULL;
    }
    struct source *s = NULL;
    struct stat st;
    if (fstat(fd, &st) != 0) {
        diag_error(d, at, where, "cannot read \"%s\": %s", path, strerror(errno));
    } else if (check_file(d, path, &st, at, where)) {
        struct str text = read_all(a, d, fd, &st, at, where, path);
        s = text.p == NULL ? NULL : make_source(a, path, text);
        if (s != NULL) {
            s->dev = st.st_dev;
            s->ino = st.st_ino;
        }
    }
    close(fd);
    return s;
}

struct pos source_pos(const struct source *s, size_t offset)
{
    size_t low = 0, high = s->line_count; /* the line is in [low, high) */
    while (high - low > 1) {
        size_t mid = low + (high - low) / 2;
        if (s->lines[mid] <= offset)
            low = mid;
        else
            high = mid;
    }
    return (struct pos){s->name, (uint32_t)low + 1, (uint32_t)(offset - s->lines[low]) + 1};
}

struct str source_line(const struct source *s, uint32_t line)
{
    if (line == 0 || line > s->line_count)
        return STR_NONE;
    size_t from = s->lines[line - 1];
    size_t to = line < s->line_count ? s->lines[line] : s->text.n;
    while (to > from && (s->text.p[to - 1] == '\n' || s->text.p[to - 1] == '\r'))
        to--;
    return str_make(s->text.p + from, to - from);
}

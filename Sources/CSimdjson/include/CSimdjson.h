#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Finds the events in a JSON message, in one walk over the positions that simdjson's first stage found.

   The first stage checks UTF-8, control characters in strings, and that strings end; the walk checks everything else
   (RFC 8259), to the end of the message, before any item is handed out. It needs no readable bytes behind the text. No
   function throws; after an error a parser can be used on. A parser is used by one thread at a time. */
typedef struct relay_json relay_json;

/* What a value is. */
typedef enum {
    RELAY_JSON_ABSENT,
    RELAY_JSON_STRING,
    RELAY_JSON_NUMBER,
    RELAY_JSON_TRUE,
    RELAY_JSON_FALSE,
    RELAY_JSON_NULL,
    RELAY_JSON_OBJECT,
    RELAY_JSON_ARRAY,
} relay_json_kind;

/* How a parse ended. */
typedef enum {
    RELAY_JSON_OK,
    RELAY_JSON_EMPTY,     /* nothing but white space */
    RELAY_JSON_NOT_UTF8,
    RELAY_JSON_NOT_JSON,
    RELAY_JSON_TOO_DEEP,  /* over 64 levels of objects and arrays */
    RELAY_JSON_NO_MEMORY, /* or over 4 GiB */
} relay_json_status;

/* A value, as its place in the message: of a string what is between the quotes, else the token as written. */
typedef struct {
    uint32_t offset;
    uint32_t count;
    relay_json_kind kind;
    bool escaped; /* a string with escapes, all of them well formed */
} relay_json_value;

/* The fields of an item, for relay_json_add_field. */
typedef enum {
    RELAY_JSON_FIELD_ID,
    RELAY_JSON_FIELD_KIND,
    RELAY_JSON_FIELD_ACTOR,
    RELAY_JSON_FIELD_POST,
    RELAY_JSON_FIELD_CREATED_AT,
    RELAY_JSON_FIELD_TEXT,
    RELAY_JSON_FIELD_LINK,
    RELAY_JSON_FIELD_ERROR, /* what tells that this is a server's complaint */
    RELAY_JSON_FIELD_COUNT,
} relay_json_field;

/* One item, with its fields in the order of relay_json_field. */
typedef struct {
    relay_json_value id, kind, actor, post, created_at, text, link, error;
    relay_json_value raw;
    uint32_t found;   /* a bit for each field that is not absent */
    uint32_t special; /* those of them that are no string, or an empty one, or one with escapes */
} relay_json_item;

/* What messages held; valid until the parser's next call. */
typedef struct {
    const relay_json_item *items;
    size_t count;
    size_t filtered;   /* envelopes that a filter passed over */
    size_t over_limit; /* items beyond the limit */
} relay_json_result;

/* Where a message begins and ends. */
typedef struct {
    intptr_t start, end;
} relay_json_place;

/* Returns a parser that hands out at most `limit` items a message, or NULL without memory. */
relay_json *relay_json_new(size_t limit);
void relay_json_free(relay_json *parser);

/* The next four prepare a parser; they return false for no JSON Pointer (RFC 6901) and when there are too many.

   Says where in an envelope the items are: an array of them, or one. Called first or not at all; without it each
   envelope is an item. An envelope is a whole document, or each element of it if it is an array (unless all pointers
   begin with an array index). A message is one document, or one a line. An envelope in which the pointer finds nothing
   is handed out as an item without fields. */
bool relay_json_set_items(relay_json *parser, const char *pointer, size_t count);
/* Says where in an item a field is. RELAY_JSON_FIELD_ERROR is looked for in the envelope. */
bool relay_json_add_field(relay_json *parser, relay_json_field field, const char *pointer, size_t count);
/* Lets only envelopes pass in which `pointer` finds one of the values added next. */
bool relay_json_add_filter(relay_json *parser, const char *pointer, size_t count);
/* Adds a value to the newest filter; `text` is a string's text or a number as written. */
bool relay_json_add_filter_value(relay_json *parser, relay_json_kind kind, const char *text, size_t count);

/* Finds the items of the first messages at `places` in `bytes`, `count` of them, at least one, as if each were parsed
   by itself, and returns how many messages these are. Places in the items count from the start of the first message.

   It stops where there is much already. It also stops, and sets `is_stopped`, before a message that is not to be had
   this way, as it is not well formed, has too many items, or is neither an object nor an array: relay_json_parse tells
   which. Where messages have only spaces between them, one pass of the first stage serves many. */
size_t relay_json_parse_all(
    relay_json *parser, const uint8_t *bytes, const relay_json_place *places, size_t count, relay_json_result *result,
    bool *is_stopped);

/* Finds the items of a message. Of a key that stands twice the last counts. */
relay_json_status relay_json_parse(
    relay_json *parser, const uint8_t *text, size_t length, relay_json_result *result);

/* Writes the text of an escaped string, at most `count` bytes; a lone surrogate becomes U+FFFD. Returns its length. */
size_t relay_json_unescape(const uint8_t *text, size_t count, uint8_t *destination);

#ifdef __cplusplus
}
#endif

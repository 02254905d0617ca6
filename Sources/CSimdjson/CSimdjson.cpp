#include "CSimdjson.h"

#include <simdjson.h>

#include <memory>
#include <new>

#include "Walk.hpp"

struct relay_json {
    relay::Plan plan;
    size_t limit;
    std::vector<relay_json_item> items;
    std::vector<uint8_t> scratch;
    std::unique_ptr<simdjson::internal::dom_parser_implementation> stage;
};

namespace {

/// Room for ordinary messages, and the most that is kept between messages: simdjson takes four bytes a byte of text.
constexpr size_t smallest_capacity = 4096;
constexpr size_t kept_capacity = 131072;
constexpr size_t kept_items = 1024;
/// With so many items the rest of the messages is left for the next call.
constexpr size_t enough_items = 512;

/// Makes room for a message. simdjson's own second stage, for which the depth is meant, is never run.
bool reserve(relay_json &parser, size_t length) {
    size_t capacity = parser.stage ? parser.stage->capacity() : 0;
    if (capacity >= length && capacity > 0) { return true; }
    if (!parser.stage) {
        capacity = length > smallest_capacity ? length : smallest_capacity;
        return simdjson::get_active_implementation()->create_dom_parser_implementation(capacity, 1, parser.stage)
               == simdjson::SUCCESS;
    }
    return parser.stage->set_capacity(length > 2 * capacity ? length : 2 * capacity) == simdjson::SUCCESS;
}

/// Forgets the last message's items.
void clear(relay_json &parser) {
    parser.items.clear();
    if (parser.items.capacity() > kept_items) { std::vector<relay_json_item>().swap(parser.items); }
}

relay_json_status parse(relay_json &parser, const uint8_t *text, size_t length, relay_json_result &result) {
    if (length == 0) { return RELAY_JSON_EMPTY; }
    if (length >= UINT32_MAX || !reserve(parser, length)) { return RELAY_JSON_NO_MEMORY; }
    const auto error = parser.stage->stage1(text, length, simdjson::stage1_mode::regular);
    if (error == simdjson::EMPTY) { return RELAY_JSON_EMPTY; }
    if (error != simdjson::SUCCESS) {
        const bool is_text = simdjson::validate_utf8(reinterpret_cast<const char *>(text), length);
        return is_text ? RELAY_JSON_NOT_JSON : RELAY_JSON_NOT_UTF8;
    }
    relay::Walk walk(parser.plan, parser.items, parser.scratch, parser.limit);
    walk.begin(text, length, parser.stage->structural_indexes.get(), parser.stage->n_structural_indexes);
    const auto status = walk.run();
    if (status == RELAY_JSON_OK) {
        result = {parser.items.data(), parser.items.size(), walk.filtered(), walk.over_limit()};
    }
    return status;
}

/// Whether the second message lies behind the first with nothing but spaces in between.
bool follows(const uint8_t *bytes, const relay_json_place &first, const relay_json_place &second) {
    if (second.start <= first.end || second.end < second.start) { return false; }
    for (intptr_t at = first.end; at < second.start; at++) {
        if (bytes[at] != ' ') { return false; }
    }
    return true;
}

/// Returns how many messages are read at once.
size_t together(const uint8_t *bytes, const relay_json_place *places, size_t count) {
    size_t taken = 1;
    while (taken < count && places[taken].end - places[0].start <= static_cast<intptr_t>(kept_capacity)
           && follows(bytes, places[taken - 1], places[taken])) {
        taken++;
    }
    return taken;
}

/// Reads messages up to the first one that is special, and returns how many they are.
size_t parse_all(
    relay_json &parser, const uint8_t *bytes, const relay_json_place *places, size_t count, relay_json_result &result,
    bool &is_stopped) {
    const intptr_t start = places[0].start;
    const uint8_t *text = bytes + start;
    const auto length = static_cast<size_t>(places[count - 1].end - start);
    is_stopped = true;
    if (length == 0 || length >= UINT32_MAX || !reserve(parser, length)) { return 0; }
    if (parser.stage->stage1(text, length, simdjson::stage1_mode::regular) != simdjson::SUCCESS) { return 0; }
    relay::Walk walk(parser.plan, parser.items, parser.scratch, parser.limit);
    walk.begin(text, length, parser.stage->structural_indexes.get(), parser.stage->n_structural_indexes);
    size_t taken = 0;
    while (taken < count && parser.items.size() < enough_items
           && walk.message(static_cast<size_t>(places[taken].end - start))) {
        taken++;
    }
    is_stopped = taken < count && parser.items.size() < enough_items;
    result = {parser.items.data(), parser.items.size(), walk.filtered(), 0};
    return taken;
}

/// Gives back what an unusually large message took.
void shrink(relay_json &parser) {
    if (parser.stage && parser.stage->capacity() > kept_capacity) { parser.stage.reset(); }
    if (parser.scratch.capacity() > kept_capacity) { std::vector<uint8_t>().swap(parser.scratch); }
}

/// Runs `body` and turns an exception, which can only be a lack of memory, into false.
template <class Body> bool without_throwing(Body body) noexcept {
    try {
        return body();
    } catch (...) {
        return false;
    }
}

}  // namespace

extern "C" {

relay_json *relay_json_new(size_t limit) {
    auto *parser = new (std::nothrow) relay_json();
    if (parser != nullptr) { parser->limit = limit; }
    return parser;
}

void relay_json_free(relay_json *parser) { delete parser; }

bool relay_json_set_items(relay_json *parser, const char *pointer, size_t count) {
    return without_throwing([&] { return parser->plan.set_items(std::string(pointer, count)); });
}

bool relay_json_add_field(relay_json *parser, relay_json_field field, const char *pointer, size_t count) {
    return without_throwing([&] { return parser->plan.add_field(field, std::string(pointer, count)); });
}

bool relay_json_add_filter(relay_json *parser, const char *pointer, size_t count) {
    return without_throwing([&] { return parser->plan.add_filter(std::string(pointer, count)); });
}

bool relay_json_add_filter_value(relay_json *parser, relay_json_kind kind, const char *text, size_t count) {
    return without_throwing([&] { return parser->plan.add_filter_value(kind, std::string(text, count)); });
}

relay_json_status relay_json_parse(
    relay_json *parser, const uint8_t *text, size_t length, relay_json_result *result) {
    *result = {nullptr, 0, 0, 0};
    relay_json_status status = RELAY_JSON_NO_MEMORY;
    clear(*parser);
    without_throwing([&] {
        status = parse(*parser, text, length, *result);
        return true;
    });
    shrink(*parser);
    return status;
}

size_t relay_json_parse_all(
    relay_json *parser, const uint8_t *bytes, const relay_json_place *places, size_t count, relay_json_result *result,
    bool *is_stopped) {
    *result = {nullptr, 0, 0, 0};
    *is_stopped = true;
    size_t taken = 0;
    clear(*parser);
    without_throwing([&] {
        taken = parse_all(*parser, bytes, places, together(bytes, places, count), *result, *is_stopped);
        return true;
    });
    shrink(*parser);
    return taken;
}

}  // extern "C"

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
constexpr size_t kept_capacity = 65536;
constexpr size_t kept_items = 256;

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
    const auto status = walk.run(
        text, length, parser.stage->structural_indexes.get(), parser.stage->n_structural_indexes);
    if (status == RELAY_JSON_OK) {
        result = {parser.items.data(), parser.items.size(), walk.filtered(), walk.over_limit()};
    }
    return status;
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
    // What an unusually large message took is given back.
    if (parser->stage && parser->stage->capacity() > kept_capacity) { parser->stage.reset(); }
    if (parser->scratch.capacity() > kept_capacity) { std::vector<uint8_t>().swap(parser->scratch); }
    return status;
}

}  // extern "C"

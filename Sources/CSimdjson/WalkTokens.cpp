#include "Escapes.hpp"
#include "Walk.hpp"

namespace relay {

namespace {

bool is_digit(uint8_t byte) { return byte >= '0' && byte <= '9'; }

/// Whether a number or literal may end before this byte.
bool ends_scalar(uint8_t byte) {
    switch (byte) {
    case ' ': case '\n': case '\r': case '\t': case ',': case ':': case '[': case ']': case '{': case '}': return true;
    default: return false;
    }
}

}  // namespace

/// Returns where the first backslash between `start` and `end` is, or `end`.
size_t Walk::backslash(const uint8_t *text, size_t start, size_t end) {
    const void *found = start < end ? memchr(text + start, '\\', end - start) : nullptr;
    return found == nullptr ? end : static_cast<size_t>(static_cast<const uint8_t *>(found) - text);
}

/// Reads a string behind which there may be white space, and which may have escapes.
bool Walk::odd_string(uint32_t start, size_t next, relay_json_value &token) {
    // Only white space lies between the closing quote and the next position.
    size_t end = next;
    do {
        end--;
        if (end <= start) { return false; }
    } while (text_[end] != '"');
    if (escape_ < start) { escape_ = backslash(text_, start, length_); }
    token = {start + 1, static_cast<uint32_t>(end - start - 1), RELAY_JSON_STRING, escape_ < end};
    return !token.escaped || escapes_are_valid(text_ + token.offset, token.count);
}

bool Walk::scalar(uint32_t start, relay_json_value &token) const {
    const auto literal = [&](const char *word, size_t count, relay_json_kind kind) {
        token.kind = kind;
        return length_ - start >= count && memcmp(text_ + start, word, count) == 0 ? start + count : 0;
    };
    size_t end = 0;
    switch (text_[start]) {
    case 't': end = literal("true", 4, RELAY_JSON_TRUE); break;
    case 'f': end = literal("false", 5, RELAY_JSON_FALSE); break;
    case 'n': end = literal("null", 4, RELAY_JSON_NULL); break;
    default:
        token.kind = RELAY_JSON_NUMBER;
        end = number_end(start);
    }
    if (end == 0 || (end < length_ && !ends_scalar(text_[end]))) { return false; }
    token.count = static_cast<uint32_t>(end - start);
    return true;
}

/// Returns where the number at `at` ends, or 0 if there is none (RFC 8259, section 6).
size_t Walk::number_end(size_t at) const {
    const auto digits = [this](size_t from) {
        while (from < length_ && is_digit(text_[from])) { from++; }
        return from;
    };
    if (at < length_ && text_[at] == '-') { at++; }
    size_t end = digits(at);
    if (end == at || (text_[at] == '0' && end > at + 1)) { return 0; }
    if (end < length_ && text_[end] == '.') {
        at = end + 1;
        end = digits(at);
        if (end == at) { return 0; }
    }
    if (end < length_ && (text_[end] | 0x20) == 'e') {
        at = end + 1;
        if (at < length_ && (text_[at] == '+' || text_[at] == '-')) { at++; }
        end = digits(at);
        if (end == at) { return 0; }
    }
    return end;
}

}  // namespace relay

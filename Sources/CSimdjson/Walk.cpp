#include "Walk.hpp"

#include "Escapes.hpp"

namespace relay {

namespace {

bool is_white(uint8_t byte) { return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t'; }

bool is_digit(uint8_t byte) { return byte >= '0' && byte <= '9'; }

/// Whether a number or literal may end before this byte.
bool ends_scalar(uint8_t byte) {
    switch (byte) {
    case ' ': case '\n': case '\r': case '\t': case ',': case ':': case '[': case ']': case '{': case '}': return true;
    default: return false;
    }
}

/// The fields of an item, which lie one behind the other, as an array.
relay_json_value *fields(relay_json_item &item) {
    static_assert(
        offsetof(relay_json_item, raw) == RELAY_JSON_FIELD_COUNT * sizeof(relay_json_value),
        "the fields are in the order of relay_json_field");
    return &item.id;
}

}  // namespace

relay_json_status Walk::run(const uint8_t *text, size_t length, const uint32_t *positions, size_t count) {
    text_ = text;
    length_ = length;
    positions_ = positions;
    count_ = count;
    has_escapes_ = memchr(text, '\\', length) != nullptr;
    while (cursor_ < count_) {
        if (cursor_ > 0 && !line_break_before(positions_[cursor_])) { return RELAY_JSON_NOT_JSON; }
        if (!document()) { return is_too_deep_ ? RELAY_JSON_TOO_DEEP : RELAY_JSON_NOT_JSON; }
    }
    return RELAY_JSON_OK;
}

bool Walk::document() {
    if (text_[positions_[cursor_]] != '[' || plan_.array_is_envelope()) { return envelope(0); }
    cursor_++;
    return array(1, [this](uint32_t) { return envelope(1); });
}

bool Walk::envelope(unsigned depth) {
    if (!plan_.has_items_pointer()) { return item(depth); }
    if (cursor_ == count_) { return false; }
    const uint32_t start = positions_[cursor_];
    const size_t over_limit = over_limit_;
    first_of_envelope_ = items_.size();
    state_ = 0;
    if (!value(plan_.envelope(), depth)) { return false; }
    if ((state_ & plan_.filter_bits()) != plan_.filter_bits()) {
        items_.resize(first_of_envelope_);
        over_limit_ = over_limit;
        filtered_++;
    } else if ((state_ & items_bit) == 0) {
        items_.resize(first_of_envelope_);
        state_ &= error_bit;
        keep(start);
    }
    return true;
}

bool Walk::items_at(unsigned depth) {
    items_.resize(first_of_envelope_);
    state_ |= items_bit;
    if (cursor_ == count_) { return false; }
    if (text_[positions_[cursor_]] != '[') { return item(depth); }
    cursor_++;
    return array(depth + 1, [this, depth](uint32_t) { return item(depth + 1); });
}

bool Walk::item(unsigned depth) {
    if (cursor_ == count_) { return false; }
    const uint32_t start = positions_[cursor_];
    if (!value(plan_.item(), depth)) { return false; }
    const uint32_t filters = plan_.has_items_pointer() ? 0 : plan_.filter_bits();
    if ((state_ & filters) != filters) {
        filtered_++;
        return true;
    }
    keep(start);
    return true;
}

/// Adds the item that began at `start` and has just been read.
void Walk::keep(uint32_t start) {
    if (items_.size() == limit_) {
        over_limit_++;
        return;
    }
    for (unsigned field = 0; field < RELAY_JSON_FIELD_COUNT; field++) {
        if ((state_ >> field & 1) == 0) { fields(current_)[field].kind = RELAY_JSON_ABSENT; }
    }
    const bool is_object = text_[start] == '{';
    current_.raw = {start, end_of_last() - start, is_object ? RELAY_JSON_OBJECT : RELAY_JSON_ABSENT, false};
    items_.push_back(current_);
}

/// Returns where the value that has just been read ends.
uint32_t Walk::end_of_last() const {
    const uint32_t last = positions_[cursor_ - 1];
    if (text_[last] == '}' || text_[last] == ']') { return last + 1; }
    size_t end = cursor_ < count_ ? positions_[cursor_] : length_;
    while (is_white(text_[end - 1])) { end--; }
    return static_cast<uint32_t>(end);
}

bool Walk::value(const Node *node, unsigned depth) {
    if (cursor_ == count_) { return false; }
    if (node != nullptr) {
        if (node->holds_items()) { return items_at(depth); }
        // What the same key held before is forgotten.
        state_ &= ~node->subtree;
    }
    const uint32_t start = positions_[cursor_++];
    relay_json_value token = {start, 0, RELAY_JSON_ABSENT, false};
    switch (text_[start]) {
    case '{':
        if (!object(node, depth + 1)) { return false; }
        token.kind = RELAY_JSON_OBJECT;
        token.count = positions_[cursor_ - 1] + 1 - start;
        break;
    case '[':
        if (!array(depth + 1, [this, node, depth](uint32_t index) {
                return value(node == nullptr ? nullptr : plan_.element(*node, index), depth + 1);
            })) {
            return false;
        }
        token.kind = RELAY_JSON_ARRAY;
        token.count = positions_[cursor_ - 1] + 1 - start;
        break;
    case '"':
        if (!string(start, cursor_ < count_ ? positions_[cursor_] : length_, token)) { return false; }
        break;
    default:
        if (!scalar(start, token)) { return false; }
    }
    if (node != nullptr && node->targets != 0) { record(*node, token); }
    return true;
}

bool Walk::object(const Node *node, unsigned depth) {
    if (depth > most_levels) {
        is_too_deep_ = true;
        return false;
    }
    if (cursor_ < count_ && text_[positions_[cursor_]] == '}') {
        cursor_++;
        return true;
    }
    for (;;) {
        // A key, a colon, a value and what follows it.
        if (count_ - cursor_ < 4) { return false; }
        const uint32_t *at = positions_ + cursor_;
        relay_json_value token;
        if (text_[at[0]] != '"' || text_[at[1]] != ':' || !string(at[0], at[1], token)) { return false; }
        const Node *next = node == nullptr || node->children.empty() ? nullptr : wanted(*node, token);
        if (text_[at[2]] == '"' && (next == nullptr || !next->holds_items())) {
            // Most values are strings; the same as in `value`, without the call.
            if (!string(at[2], at[3], token)) { return false; }
            cursor_ += 3;
            if (next != nullptr) {
                state_ &= ~next->subtree;
                record(*next, token);
            }
        } else {
            cursor_ += 2;
            if (!value(next, depth) || cursor_ == count_) { return false; }
        }
        const uint8_t after = text_[positions_[cursor_++]];
        if (after == '}') { return true; }
        if (after != ',') { return false; }
    }
}

template <class Each> bool Walk::array(unsigned depth, Each each) {
    if (depth > most_levels) {
        is_too_deep_ = true;
        return false;
    }
    if (cursor_ < count_ && text_[positions_[cursor_]] == ']') {
        cursor_++;
        return true;
    }
    for (uint32_t index = 0;; index++) {
        if (!each(index) || cursor_ == count_) { return false; }
        const uint8_t after = text_[positions_[cursor_++]];
        if (after == ']') { return true; }
        if (after != ',') { return false; }
    }
}

/// Reads the string between `start` and the next position.
bool Walk::string(uint32_t start, size_t next, relay_json_value &token) const {
    // Only white space lies between the closing quote and the next position.
    size_t end = next;
    do {
        end--;
        if (end <= start) { return false; }
    } while (text_[end] != '"');
    token.offset = start + 1;
    token.count = static_cast<uint32_t>(end - start - 1);
    token.kind = RELAY_JSON_STRING;
    token.escaped = has_escapes_ && memchr(text_ + token.offset, '\\', token.count) != nullptr;
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

const Node *Walk::wanted(const Node &node, const relay_json_value &key) {
    if (!key.escaped) { return plan_.child(node, text_ + key.offset, key.count, length_ - key.offset); }
    size_t count = 0;
    const uint8_t *bytes = unescaped(key, count);
    return plan_.child(node, bytes, count, count);
}

void Walk::record(const Node &node, const relay_json_value &token) {
    for (uint32_t bits = node.targets & ~items_bit; bits != 0; bits &= bits - 1) {
        const auto bit = static_cast<unsigned>(__builtin_ctz(bits));
        if (bit < RELAY_JSON_FIELD_COUNT) {
            fields(current_)[bit] = token;
            state_ |= 1U << bit;
        } else if (passes(plan_.filter(bit - RELAY_JSON_FIELD_COUNT), token)) {
            state_ |= 1U << bit;
        }
    }
}

bool Walk::passes(const Filter &filter, const relay_json_value &token) {
    const uint8_t *bytes = text_ + token.offset;
    size_t count = token.count;
    if (token.escaped) { bytes = unescaped(token, count); }
    for (const Filter::Value &value : filter.values) {
        if (value.kind != token.kind) { continue; }
        if (token.kind != RELAY_JSON_STRING && token.kind != RELAY_JSON_NUMBER) { return true; }
        if (value.text.size() == count && memcmp(value.text.data(), bytes, count) == 0) { return true; }
    }
    return false;
}

bool Walk::line_break_before(size_t at) const {
    while (at > 0 && is_white(text_[at - 1])) {
        at--;
        if (text_[at] == '\n') { return true; }
    }
    return false;
}

const uint8_t *Walk::unescaped(const relay_json_value &token, size_t &count) {
    scratch_.resize(token.count);
    count = relay_json_unescape(text_ + token.offset, token.count, scratch_.data());
    return scratch_.data();
}

}  // namespace relay

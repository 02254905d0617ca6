#include "Walk.hpp"

namespace relay {

namespace {

bool is_white(uint8_t byte) { return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t'; }

bool is_null(const uint8_t *text, size_t count) { return count == 4 && memcmp(text, "null", 4) == 0; }

/// The fields of an item, which lie one behind the other, as an array.
relay_json_value *fields(relay_json_item &item) {
    static_assert(
        offsetof(relay_json_item, raw) == RELAY_JSON_FIELD_COUNT * sizeof(relay_json_value),
        "the fields are in the order of relay_json_field");
    return &item.id;
}

}  // namespace

void Walk::begin(const uint8_t *text, size_t length, const uint32_t *positions, size_t count) {
    text_ = text;
    length_ = length;
    positions_ = positions;
    count_ = count;
    escape_ = backslash(text, 0, length);
    first_of_message_ = items_.size();
}

relay_json_status Walk::run() {
    while (cursor_ < count_) {
        if (cursor_ > 0 && !line_break_before(positions_[cursor_])) { return RELAY_JSON_NOT_JSON; }
        if (!document()) { return is_too_deep_ ? RELAY_JSON_TOO_DEEP : RELAY_JSON_NOT_JSON; }
    }
    return RELAY_JSON_OK;
}

bool Walk::message(size_t end) {
    // Every document must be in brackets: then no string is open where it ends, so the positions of the next message
    // are the same as they would be without this one.
    const size_t first = cursor_;
    const size_t filtered = filtered_;
    first_of_message_ = items_.size();
    bool is_good = false;
    while (cursor_ < count_ && positions_[cursor_] < end) {
        const uint32_t start = positions_[cursor_];
        is_good = (text_[start] == '{' || text_[start] == '[') && (cursor_ == first || line_break_before(start))
                  && document() && positions_[cursor_ - 1] < end;
        if (!is_good) { break; }
    }
    if (is_good && over_limit_ == 0) { return true; }
    items_.resize(first_of_message_);
    filtered_ = filtered;
    over_limit_ = 0;
    return false;
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
    state_ &= ~plan_.item()->subtree;
    forgotten_ = 0;
    if (plan_.has_items_pointer()) {
        if (!value(plan_.item(), depth)) { return false; }
        keep(start);
        return true;
    }
    const bool has_room = items_.size() - first_of_message_ < limit_;
    if (has_room) {
        items_.emplace_back();
        target_ = &items_.back();
    }
    const bool is_valid = value(plan_.item(), depth);
    const bool passes = (state_ & plan_.filter_bits()) == plan_.filter_bits();
    if (is_valid && passes && has_room) { finish(*target_, start); }
    if (has_room && !(is_valid && passes)) { items_.pop_back(); }
    target_ = &current_;
    if (!passes) {
        filtered_++;
    } else if (!has_room) {
        over_limit_++;
    }
    return is_valid;
}

/// Adds the item of an envelope that began at `start` and has just been read.
void Walk::keep(uint32_t start) {
    if (items_.size() - first_of_message_ == limit_) {
        over_limit_++;
        return;
    }
    forgotten_ = ~state_;
    finish(current_, start);
    items_.push_back(current_);
}

/// Completes an item that has its fields.
void Walk::finish(relay_json_item &item, uint32_t start) {
    constexpr uint32_t all = (1U << RELAY_JSON_FIELD_COUNT) - 1;
    for (uint32_t bits = forgotten_ & ~state_ & all; bits != 0; bits &= bits - 1) {
        fields(item)[__builtin_ctz(bits)].kind = RELAY_JSON_ABSENT;
    }
    item.raw = {start, end_of_last() - start, text_[start] == '{' ? RELAY_JSON_OBJECT : RELAY_JSON_ABSENT, false};
    item.found = state_ & all;
    item.special = special_ & item.found;
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
        forget(*node);
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

/// Forgets what was found at a place that comes again.
inline void Walk::forget(const Node &node) {
    forgotten_ |= state_ & node.subtree;
    state_ &= ~node.subtree;
}

/// Notes that a field was found.
inline void Walk::note(unsigned field, const relay_json_value &token) {
    const bool is_plain = token.kind == RELAY_JSON_STRING && token.count > 0 && !token.escaped;
    state_ |= 1U << field;
    special_ = (special_ & ~(1U << field)) | static_cast<uint32_t>(!is_plain) << field;
}

/// Reads the string between `start` and the next position.
inline bool Walk::string(uint32_t start, size_t next, relay_json_value &token) {
    const size_t end = next - 1;
    if (text_[end] != '"' || end == start || end > escape_) { return odd_string(start, next, token); }
    token = {start + 1, static_cast<uint32_t>(end - start - 1), RELAY_JSON_STRING, false};
    return true;
}

/// Reads members as long as each has the key that is guessed for its place, from `place` on, and null or a string
/// without escapes, without space around it. Returns whether the object has ended; else the next member is for others
/// to read.
bool Walk::usual_members(const Node &node, unsigned &place) {
    if (node.guesses.empty() || count_ < 4) { return false; }
    // What changes is kept at hand: this is where most of the walk's time goes.
    const uint8_t *const text = text_;
    relay_json_value *const slots = fields(*target_);
    const uint32_t *at = positions_ + cursor_;
    const uint32_t *const last = positions_ + count_ - 4;
    uint32_t found = state_;
    uint32_t special = special_;
    bool has_ended = false;
    for (; !has_ended && place < Node::most_guesses && at <= last; place++, at += 4) {
        const Node::Guess &guess = node.guesses[place];
        const uint32_t key = at[0], value = at[2], after = at[3], end = after - 1;
        if (!guess.matches(text + key, at[1] - key, length_ - key) || guess.leaf == Node::no_leaf) { break; }
        const bool has_end = (text[after] == ',') | (text[after] == '}');
        // Between two positions there is one string, so this is all of it.
        const bool is_string = (text[value] == '"') & (text[end] == '"') & (end > value) & (end <= escape_);
        if (is_string & has_end) {
            if (guess.leaf >= 0) {
                slots[guess.leaf] = {value + 1, end - value - 1, RELAY_JSON_STRING, false};
                const uint32_t bit = 1U << guess.leaf;
                found |= bit;
                special = (special & ~bit) | (end - value == 1 ? bit : 0);
            }
        } else if (has_end && is_null(text + value, after - value)) {
            if (guess.leaf >= 0) {
                slots[guess.leaf] = {value, 4, RELAY_JSON_NULL, false};
                found |= 1U << guess.leaf;
                special |= 1U << guess.leaf;
            }
        } else {
            break;
        }
        has_ended = text[after] == '}';
    }
    state_ = found;
    special_ = special;
    cursor_ = static_cast<size_t>(at - positions_);
    return has_ended;
}

/// Reads the key at `at`, before a colon, and returns what is wanted there.
inline const Node *Walk::key(
    const Node *node, unsigned place, const uint32_t *at, bool &is_valid) {
    if (node != nullptr && place < Node::most_guesses && !node->guesses.empty()) {
        const Node::Guess &guess = node->guesses[place];
        if (guess.matches(text_ + at[0], at[1] - at[0], length_ - at[0])) { return guess.node; }
    }
    relay_json_value token;
    is_valid = string(at[0], at[1], token);
    if (!is_valid || node == nullptr || node->children.empty()) { return nullptr; }
    const Node *next = wanted(*node, token);
    if (!token.escaped) { Plan::guess(*node, place, text_ + token.offset, token.count, next); }
    return next;
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
    for (unsigned place = 0;; place++) {
        if (node != nullptr && usual_members(*node, place)) { return true; }
        // A key, a colon, a value and what follows it.
        if (count_ - cursor_ < 4) { return false; }
        const uint32_t *at = positions_ + cursor_;
        if (text_[at[0]] != '"' || text_[at[1]] != ':') { return false; }
        bool is_valid = true;
        const Node *next = key(node, place, at, is_valid);
        if (!is_valid) { return false; }
        if (text_[at[2]] == '"' && (next == nullptr || !next->holds_items())) {
            // Most values are strings; the same as in `value`, without the call.
            relay_json_value other;
            const bool is_field = next != nullptr && next->leaf >= 0;
            // Written to its place at once: copying what was written just now, in other pieces, stalls.
            relay_json_value &token = is_field ? fields(*target_)[next->leaf] : other;
            if (!string(at[2], at[3], token)) { return false; }
            cursor_ += 3;
            if (is_field) {
                note(static_cast<unsigned>(next->leaf), token);
            } else if (next != nullptr) {
                forget(*next);
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
            fields(*target_)[bit] = token;
            note(bit, token);
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

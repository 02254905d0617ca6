#pragma once
#include "Plan.hpp"

namespace relay {

/// Walks a message along the positions that simdjson's first stage found, and collects the items.
///
/// The positions are those of `{ } [ ] : ,`, of every opening quote, and of the first byte of every other scalar that
/// does not follow directly on one (so a number's or literal's end must be checked here). Between two positions lie a
/// string or scalar and white space, nothing else.
class Walk {
public:
    /// Collects into `items`; `scratch` is memory for unescaped keys.
    Walk(const Plan &plan, std::vector<relay_json_item> &items, std::vector<uint8_t> &scratch, size_t limit)
        : plan_(plan), items_(items), scratch_(scratch), limit_(limit) {}

    /// Begins with the positions of a text.
    void begin(const uint8_t *text, size_t length, const uint32_t *positions, size_t count);

    /// Reads the whole text, which is one message.
    relay_json_status run();

    /// Reads the next one of several messages, which ends at `end` and has white space behind it.
    ///
    /// Returns false, without a trace, if it is malformed or anything is special about it.
    bool message(size_t end);

    size_t filtered() const { return filtered_; }
    size_t over_limit() const { return over_limit_; }

private:
    static constexpr unsigned most_levels = 64;

    // Each of these reads one thing at the cursor, and returns false if that is not what is there.
    bool document();
    bool envelope(unsigned depth);
    bool item(unsigned depth);
    bool items_at(unsigned depth);
    bool value(const Node *node, unsigned depth);
    bool object(const Node *node, unsigned depth);
    template <class Each> bool array(unsigned depth, Each each);
    bool usual_members(const Node &node, unsigned &place);
    const Node *key(const Node *node, unsigned place, const uint32_t *at, bool &is_valid);
    bool string(uint32_t start, size_t next, relay_json_value &token);
    bool odd_string(uint32_t start, size_t next, relay_json_value &token);
    bool scalar(uint32_t start, relay_json_value &token) const;
    size_t number_end(size_t at) const;
    static size_t backslash(const uint8_t *text, size_t start, size_t end);

    const Node *wanted(const Node &node, const relay_json_value &key);
    void forget(const Node &node);
    void record(const Node &node, const relay_json_value &token);
    void note(unsigned field, const relay_json_value &token);
    bool passes(const Filter &filter, const relay_json_value &token);
    void keep(uint32_t start);
    void finish(relay_json_item &item, uint32_t start);
    uint32_t end_of_last() const;
    bool line_break_before(size_t at) const;
    const uint8_t *unescaped(const relay_json_value &token, size_t &count);

    const Plan &plan_;
    std::vector<relay_json_item> &items_;
    std::vector<uint8_t> &scratch_;
    const size_t limit_;
    const uint8_t *text_ = nullptr;
    size_t length_ = 0;
    const uint32_t *positions_ = nullptr;
    size_t count_ = 0;
    size_t cursor_ = 0;
    size_t escape_ = 0;  // the first backslash that is not before the string that is read
    bool is_too_deep_ = false;
    uint32_t state_ = 0;    // the fields that were found, the filters that pass, whether items were found
    uint32_t special_ = 0;  // the fields that are no plain strings, whether found or not
    uint32_t forgotten_ = 0;  // the fields that were found and then replaced
    relay_json_item current_ = {};
    relay_json_item *target_ = &current_;  // where fields go: to their place at once, unless an envelope has some too
    size_t first_of_message_ = 0;
    size_t first_of_envelope_ = 0;
    size_t filtered_ = 0;
    size_t over_limit_ = 0;
};

}  // namespace relay

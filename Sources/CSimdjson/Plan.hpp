#pragma once
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "CSimdjson.h"

namespace relay {

/// The bits of the fields; then come the filters', and last the one that says that the items were found.
constexpr uint32_t error_bit = 1U << RELAY_JSON_FIELD_ERROR;
constexpr uint32_t items_bit = 1U << 31;
constexpr unsigned most_filters = 31 - RELAY_JSON_FIELD_COUNT;

/// What is wanted of a value: a place in the tree that all pointers make together.
struct Node {
    struct Child {
        std::string key;
        uint64_t head;   // the first eight bytes of the key, filled up with zeros
        uint32_t index;  // the key as an array index, or `no_index`
        uint32_t node;
    };
    static constexpr uint32_t no_index = UINT32_MAX;
    static constexpr int unwanted = -1;
    static constexpr int no_leaf = -2;
    static constexpr uint32_t no_guess = UINT32_MAX - 8;  // longer than any key

    /// The key that stood at a place of an object when it was last read: servers write them in the same order.
    ///
    /// It is compared with its quotes and its colon, which is all that is to be checked of it.
    struct Guess {
        uint64_t head = 0;           // the first eight bytes
        uint64_t tail = 0;           // the last eight ones, or the same if there are no more than eight
        uint64_t mask = 0;           // those of the eight that there are
        uint32_t tail_offset = 0;
        uint32_t colon = no_guess;   // how far the colon is from the first quote
        int leaf = no_leaf;          // the field that it is, `unwanted`, or `no_leaf`
        const Node *node = nullptr;  // what is wanted there

        /// Compares with a key whose colon is `distance` behind its first quote; of `text`, which begins with that,
        /// `readable` bytes can be read.
        bool matches(const uint8_t *text, uint32_t distance, size_t readable) const {
            if (distance != colon || readable < 8) { return false; }
            uint64_t first, last;
            memcpy(&first, text, 8);
            memcpy(&last, text + tail_offset, 8);
            return (((first ^ head) | (last ^ tail)) & mask) == 0;
        }
    };
    static constexpr unsigned most_guesses = 32;
    static constexpr uint32_t longest_guess = 13;  // with quotes and colon what head and tail have

    uint32_t targets = 0;  // the fields and filters whose pointers end here
    uint32_t subtree = 0;  // those that end here or below
    int leaf = no_leaf;    // the field, if it is the only one and nothing is wanted below
    mutable std::vector<Guess> guesses;  // none, or one for each of the first places; they change no answer
    bool holds_items() const { return (targets & items_bit) != 0; }
    std::vector<Child> children;
};

/// A filter lets envelopes pass in which a pointer finds one of some values.
struct Filter {
    struct Value {
        relay_json_kind kind;
        std::string text;
    };
    std::vector<Value> values;
};

/// All pointers of a format.
class Plan {
public:
    Plan() : nodes_(2) {}

    bool set_items(const std::string &pointer);
    bool add_field(relay_json_field field, const std::string &pointer);
    bool add_filter(const std::string &pointer);
    bool add_filter_value(relay_json_kind kind, const std::string &text);

    const Node *item() const { return &nodes_[0]; }
    const Node *envelope() const { return &nodes_[has_items_pointer_ ? 1 : 0]; }
    bool has_items_pointer() const { return has_items_pointer_; }
    /// Guesses that `key` stands at this place of objects for `node` from now on.
    static void guess(const Node &node, unsigned place, const uint8_t *key, size_t count, const Node *child);

    const Filter &filter(unsigned number) const { return filters_[number]; }
    uint32_t filter_bits() const {
        return ((1U << filters_.size()) - 1) << RELAY_JSON_FIELD_COUNT;
    }
    /// Whether an array at the top is one envelope: all that is wanted of it lies at array indexes.
    bool array_is_envelope() const;

    /// Finds a key's place; `readable` bytes, at least `count`, can be read.
    const Node *child(const Node &node, const uint8_t *key, size_t count, size_t readable) const {
        const uint64_t head = head_of(key, count, readable);
        for (const Node::Child &child : node.children) {
            // Few keys have more than eight bytes, so there is hardly ever a call.
            if (child.head == head && child.key.size() == count
                && (count <= 8 || memcmp(child.key.data(), key, count) == 0)) {
                return &nodes_[child.node];
            }
        }
        return nullptr;
    }
    const Node *element(const Node &node, uint32_t index) const {
        for (const Node::Child &child : node.children) {
            if (child.index == index) { return &nodes_[child.node]; }
        }
        return nullptr;
    }

private:
    /// Returns the first eight bytes of a key, filled up with zeros.
    static uint64_t head_of(const uint8_t *key, size_t count, size_t readable) {
        uint64_t head = 0;
        if (readable < 8) {
            memcpy(&head, key, count < 8 ? count : 8);
            return head;
        }
        memcpy(&head, key, 8);
        // The lowest byte is the first one: x86-64 and 64-bit ARM alike.
        return count < 8 ? head & ((UINT64_C(1) << count * 8) - 1) : head;
    }
    /// Makes the path of `pointer` below the node `root` and marks it with `bits`.
    bool insert(uint32_t root, const std::string &pointer, uint32_t bits);

    std::vector<Node> nodes_;  // the first is an item's root, the second an envelope's
    std::vector<Filter> filters_;
    bool has_items_pointer_ = false;
};

}  // namespace relay

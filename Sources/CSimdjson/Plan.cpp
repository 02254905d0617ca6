#include "Plan.hpp"

namespace relay {

namespace {

/// Splits a pointer into its keys (RFC 6901, section 4).
bool split(const std::string &pointer, std::vector<std::string> &keys) {
    if (pointer.empty()) { return true; }
    if (pointer[0] != '/') { return false; }
    for (size_t at = 0; at < pointer.size(); at++) {
        if (pointer[at] == '/') {
            keys.emplace_back();
        } else if (pointer[at] != '~') {
            keys.back() += pointer[at];
        } else {
            at++;
            if (at == pointer.size() || (pointer[at] != '0' && pointer[at] != '1')) { return false; }
            keys.back() += pointer[at] == '0' ? '~' : '/';
        }
    }
    return true;
}

/// Returns the key as an array index: digits without a leading zero, at most nine of them.
uint32_t array_index(const std::string &key) {
    if (key.empty() || key.size() > 9 || (key[0] == '0' && key.size() > 1)) { return Node::no_index; }
    uint32_t index = 0;
    for (const char digit : key) {
        if (digit < '0' || digit > '9') { return Node::no_index; }
        index = index * 10 + static_cast<uint32_t>(digit - '0');
    }
    return index;
}

}  // namespace

bool Plan::insert(uint32_t root, const std::string &pointer, uint32_t bits) {
    std::vector<std::string> keys;
    if (!split(pointer, keys)) { return false; }
    uint32_t last = root;
    nodes_[last].subtree |= bits;
    for (const std::string &key : keys) {
        uint32_t next = 0;
        for (const Node::Child &child : nodes_[last].children) {
            if (child.key == key) { next = child.node; }
        }
        if (next == 0) {
            next = static_cast<uint32_t>(nodes_.size());
            const auto *bytes = reinterpret_cast<const uint8_t *>(key.data());
            nodes_[last].children.push_back({key, head_of(bytes, key.size(), key.size()), array_index(key), next});
            nodes_.emplace_back();
        }
        last = next;
        nodes_[last].subtree |= bits;
    }
    nodes_[last].targets |= bits;
    for (Node &node : nodes_) {
        const bool is_one = node.targets != 0 && (node.targets & (node.targets - 1)) == 0;
        const bool is_field = (node.targets & ((1U << RELAY_JSON_FIELD_COUNT) - 1)) != 0;
        node.leaf = is_one && is_field && node.subtree == node.targets ? __builtin_ctz(node.targets) : Node::no_leaf;
        // The nodes may have moved.
        node.guesses.clear();
    }
    return true;
}

void Plan::guess(const Node &node, unsigned place, const uint8_t *key, size_t count, const Node *child) {
    if (place >= Node::most_guesses || count == 0 || count > Node::longest_guess) { return; }
    if (node.guesses.empty()) { node.guesses.resize(Node::most_guesses); }
    const size_t length = count + 3;
    uint8_t text[Node::longest_guess + 3] = {'"'};
    memcpy(text + 1, key, count);
    memcpy(text + 1 + count, "\":", 2);
    Node::Guess &guess = node.guesses[place];
    guess.mask = length < 8 ? (UINT64_C(1) << length * 8) - 1 : UINT64_MAX;
    guess.tail_offset = length < 8 ? 0 : static_cast<uint32_t>(length - 8);
    memcpy(&guess.head, text, 8);
    memcpy(&guess.tail, text + guess.tail_offset, 8);
    guess.colon = static_cast<uint32_t>(length - 1);
    guess.leaf = child == nullptr ? Node::unwanted : child->leaf;
    guess.node = child;
}

bool Plan::set_items(const std::string &pointer) {
    if (pointer.empty()) { return true; }
    has_items_pointer_ = insert(1, pointer, items_bit);
    return has_items_pointer_;
}

bool Plan::add_field(relay_json_field field, const std::string &pointer) {
    const bool in_envelope = has_items_pointer_ && field == RELAY_JSON_FIELD_ERROR;
    return insert(in_envelope ? 1 : 0, pointer, 1U << field);
}

bool Plan::add_filter(const std::string &pointer) {
    if (filters_.size() == most_filters) { return false; }
    const uint32_t bit = 1U << (RELAY_JSON_FIELD_COUNT + filters_.size());
    if (!insert(has_items_pointer_ ? 1 : 0, pointer, bit)) { return false; }
    filters_.emplace_back();
    return true;
}

bool Plan::add_filter_value(relay_json_kind kind, const std::string &text) {
    if (filters_.empty()) { return false; }
    filters_.back().values.push_back({kind, text});
    return true;
}

bool Plan::array_is_envelope() const {
    const Node *root = envelope();
    bool has_index = false;
    for (const Node::Child &child : root->children) {
        const Node &node = nodes_[child.node];
        // The place of an error is always looked for, so it says nothing about the format.
        if (node.subtree == error_bit) { continue; }
        if (child.index == Node::no_index) { return false; }
        has_index = true;
    }
    return has_index;
}

}  // namespace relay

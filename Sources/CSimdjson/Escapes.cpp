#include "Escapes.hpp"

#include <cstring>

#include "CSimdjson.h"

namespace {

/// Returns what `\` and this letter stand for, or 0.
uint8_t short_escape(uint8_t letter) {
    switch (letter) {
    case '"': case '\\': case '/': return letter;
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    default: return 0;
    }
}

/// Writes a scalar value as UTF-8 and returns where the next one goes.
uint8_t *put_scalar(uint32_t scalar, uint8_t *to) {
    if (scalar < 0x80) {
        *to++ = static_cast<uint8_t>(scalar);
    } else if (scalar < 0x800) {
        *to++ = static_cast<uint8_t>(0xC0 | scalar >> 6);
        *to++ = static_cast<uint8_t>(0x80 | (scalar & 0x3F));
    } else if (scalar < 0x10000) {
        *to++ = static_cast<uint8_t>(0xE0 | scalar >> 12);
        *to++ = static_cast<uint8_t>(0x80 | (scalar >> 6 & 0x3F));
        *to++ = static_cast<uint8_t>(0x80 | (scalar & 0x3F));
    } else {
        *to++ = static_cast<uint8_t>(0xF0 | scalar >> 18);
        *to++ = static_cast<uint8_t>(0x80 | (scalar >> 12 & 0x3F));
        *to++ = static_cast<uint8_t>(0x80 | (scalar >> 6 & 0x3F));
        *to++ = static_cast<uint8_t>(0x80 | (scalar & 0x3F));
    }
    return to;
}

/// Reads the digits behind `\u`, and a second escape if both make a pair; `from` is moved behind what was read.
uint32_t take_scalar(const uint8_t *&from, const uint8_t *end) {
    const uint32_t unit = relay::hex_four(from);
    from += 4;
    if (unit < 0xD800 || unit > 0xDFFF) { return unit; }
    if (unit < 0xDC00 && end - from >= 6 && from[0] == '\\' && from[1] == 'u') {
        const uint32_t low = relay::hex_four(from + 2);
        if (low >= 0xDC00 && low <= 0xDFFF) {
            from += 6;
            return 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
        }
    }
    return 0xFFFD;
}

}  // namespace

bool relay::escapes_are_valid(const uint8_t *text, size_t count) {
    const uint8_t *end = text + count;
    while (text < end) {
        text = static_cast<const uint8_t *>(memchr(text, '\\', static_cast<size_t>(end - text)));
        if (text == nullptr) { return true; }
        if (end - text < 2) { return false; }
        if (text[1] == 'u') {
            if (end - text < 6 || hex_four(text + 2) > 0xFFFF) { return false; }
            text += 6;
        } else {
            if (short_escape(text[1]) == 0) { return false; }
            text += 2;
        }
    }
    return true;
}

extern "C" size_t relay_json_unescape(const uint8_t *text, size_t count, uint8_t *destination) {
    const uint8_t *end = text + count;
    uint8_t *to = destination;
    while (text < end) {
        const auto *escape = static_cast<const uint8_t *>(memchr(text, '\\', static_cast<size_t>(end - text)));
        const size_t plain = static_cast<size_t>((escape != nullptr ? escape : end) - text);
        memcpy(to, text, plain);
        to += plain;
        if (escape == nullptr) { break; }
        text = escape + 2;
        if (escape[1] == 'u') {
            to = put_scalar(take_scalar(text, end), to);
        } else {
            *to++ = short_escape(escape[1]);
        }
    }
    return static_cast<size_t>(to - destination);
}

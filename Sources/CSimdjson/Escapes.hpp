#pragma once
#include <cstddef>
#include <cstdint>

namespace relay {

/// Returns the value of a hexadecimal digit, or a value over 15.
inline uint32_t hex_digit(uint8_t digit) {
    if (digit >= '0' && digit <= '9') { return digit - '0'; }
    const uint8_t letter = digit | 0x20;
    return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : 16;
}

/// Returns the value of four hexadecimal digits, or a value over 0xFFFF.
inline uint32_t hex_four(const uint8_t *digits) {
    uint32_t value = 0;
    for (int index = 0; index < 4; index++) {
        const uint32_t digit = hex_digit(digits[index]);
        if (digit > 15) { return UINT32_MAX; }
        value = value << 4 | digit;
    }
    return value;
}

/// Whether all escapes of a string's `count` bytes are well formed (RFC 8259, section 7); surrogates may be lone.
bool escapes_are_valid(const uint8_t *text, size_t count);

}  // namespace relay

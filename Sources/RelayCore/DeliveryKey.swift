/// The idempotency key of a delivery.
///
/// Base32 (RFC 4648, section 6, in lower case and without padding) of a SHA-256 over length-prefixed fields, so that no
/// crafted name can make the keys of two deliveries equal.
package enum DeliveryKey {
    /// Returns the key of the delivery that tells of one event: the same for the same event, rule and sink.
    package static func event(_ event: Event, rule: String, sink: String) -> String {
        var writer = KeyWriter("event")
        writer.append(event.stream.utf8)
        writer.append(event.record.identity.high)
        writer.append(event.record.identity.low)
        writer.append(rule.utf8)
        writer.append(sink.utf8)
        return base32(writer.hash())
    }

    /// Returns the key of a digest; the serial of its group makes it unique.
    package static func digest(rule: String, sink: String, group: EffectKey, serial: UInt64) -> String {
        var writer = KeyWriter("digest")
        writer.append(rule.utf8)
        writer.append(sink.utf8)
        writer.append(group.high)
        writer.append(group.low)
        writer.append(serial)
        return base32(writer.hash())
    }

    /// Returns the key of a briefing; its serial makes it unique.
    package static func briefing(sink: String, time: String, serial: UInt64) -> String {
        var writer = KeyWriter("briefing")
        writer.append(sink.utf8)
        writer.append(time.utf8)
        writer.append(serial)
        return base32(writer.hash())
    }

    private static func base32(_ bytes: [UInt8]) -> String {
        String(unsafeUninitializedCapacity: (bytes.count * 8 + 4) / 5) { text in
            var count = 0
            var buffer: UInt32 = 0
            var bits: UInt32 = 0
            for byte in bytes {
                buffer = buffer << 8 | UInt32(byte)
                bits += 8
                while bits >= 5 {
                    bits -= 5
                    text[count] = digit(buffer >> bits & 31)
                    count += 1
                }
                buffer &= (1 << bits) - 1
            }
            if bits > 0 {
                text[count] = digit(buffer << (5 - bits) & 31)
                count += 1
            }
            return count
        }
    }

    private static func digit(_ value: UInt32) -> UInt8 {
        let value = UInt8(truncatingIfNeeded: value)
        return value < 26 ? UInt8(ascii: "a") + value : UInt8(ascii: "2") + value - 26
    }
}

internal import GLibRuntime

/// The idempotency key of a delivery.
///
/// Base32 (RFC 4648, section 6, in lower case and without padding) of a SHA-256 over length-prefixed fields, so that no
/// crafted name can make the keys of two deliveries equal.
package enum DeliveryKey {
    /// Returns the key of the delivery that tells of one event: the same for the same event, rule and sink.
    package static func event(_ event: Event, rule: String, sink: String) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(128)
        append("event".utf8, to: &bytes)
        append(event.stream.utf8, to: &bytes)
        append(littleEndian(event.record.identity.high) + littleEndian(event.record.identity.low), to: &bytes)
        append(rule.utf8, to: &bytes)
        append(sink.utf8, to: &bytes)
        return base32(Checksum.sha256(bytes))
    }

    private static func littleEndian(_ half: UInt64) -> [UInt8] {
        withUnsafeBytes(of: half.littleEndian) { Array($0) }
    }

    private static func append(_ field: some Collection<UInt8>, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: UInt32(truncatingIfNeeded: field.count).bigEndian) { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: field)
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

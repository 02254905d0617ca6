internal import GLibRuntime

/// The idempotency key of a delivery.
///
/// Base32 (RFC 4648, section 6, in lower case and without padding) of a SHA-256 over length-prefixed fields, so that no
/// crafted name can make the keys of two deliveries equal.
package enum DeliveryKey {
    /// Returns the key of the delivery that tells of one event: the same for the same event, rule and sink.
    package static func event(_ event: Event, rule: String, sink: String) -> String {
        var identity: [UInt8] = []
        for half in [event.record.identity.high, event.record.identity.low] {
            withUnsafeBytes(of: half.littleEndian) { identity.append(contentsOf: $0) }
        }
        return key(of: [Array("event".utf8), Array(event.stream.utf8), identity, Array(rule.utf8), Array(sink.utf8)])
    }

    private static func key(of fields: [[UInt8]]) -> String {
        var bytes: [UInt8] = []
        for field in fields {
            withUnsafeBytes(of: UInt32(truncatingIfNeeded: field.count).bigEndian) { bytes.append(contentsOf: $0) }
            bytes.append(contentsOf: field)
        }
        return base32(Digest.sha256(bytes))
    }

    private static func base32(_ bytes: [UInt8]) -> String {
        let alphabet = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)
        var text: [UInt8] = []
        var buffer: UInt32 = 0
        var bits: UInt32 = 0
        for byte in bytes {
            buffer = buffer << 8 | UInt32(byte)
            bits += 8
            while bits >= 5 {
                bits -= 5
                text.append(alphabet[Int(buffer >> bits & 31)])
            }
            buffer &= (1 << bits) - 1
        }
        if bits > 0 { text.append(alphabet[Int(buffer << (5 - bits) & 31)]) }
        return String(decoding: text, as: UTF8.self)
    }
}

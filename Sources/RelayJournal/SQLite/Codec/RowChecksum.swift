/// The checksum of a stored value: SQLite has none, and a flipped bit within a text is still a text.
enum RowChecksum {
    /// Returns 32 bits that differ if one word of eight bytes does, but for one in four thousand million.
    static func of(_ bytes: RawSpan) -> UInt32 {
        var hash = UInt64(bytes.byteCount) &+ 0x9E37_79B9_7F4A_7C15
        var offset = 0
        while offset + 8 <= bytes.byteCount {
            mix(bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self), into: &hash)
            offset += 8
        }
        var rest: UInt64 = 0
        while offset < bytes.byteCount {
            rest = rest << 8 | UInt64(bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self))
            offset += 1
        }
        mix(rest, into: &hash)
        return UInt32(truncatingIfNeeded: hash ^ hash >> 32)
    }

    /// Each step can be undone, so two states that differ stay so.
    private static func mix(_ word: UInt64, into hash: inout UInt64) {
        hash = (hash ^ word.littleEndian) &* 0xBF58_476D_1CE4_E5B9
        hash ^= hash >> 31
    }
}

/// The exclusive or of RFC 6455, section 5.3.
enum Masking {
    /// Masks or unmasks a part of `bytes` in place, eight at a time.
    ///
    /// - Parameters:
    ///   - key: the masking key, its first byte on the wire in the lowest bits.
    ///   - bytes: where the part lies.
    ///   - range: the part.
    static func apply(_ key: UInt32, to bytes: inout MutableRawSpan, in range: Range<Int>) {
        let wideKey = UInt64(key) << 32 | UInt64(key)
        var offset = range.lowerBound
        while range.upperBound - offset >= 8 {
            let word = UInt64(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
            bytes.storeBytes(of: (word ^ wideKey).littleEndian, toByteOffset: offset, as: UInt64.self)
            offset += 8
        }
        var rest = wideKey
        while offset < range.upperBound {
            let byte = bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
            bytes.storeBytes(of: byte ^ UInt8(truncatingIfNeeded: rest), toByteOffset: offset, as: UInt8.self)
            rest >>= 8
            offset += 1
        }
    }

    /// Returns the key for the bytes that follow after `count` bytes were masked with `key`.
    static func key(_ key: UInt32, after count: Int) -> UInt32 {
        let shift = UInt32(truncatingIfNeeded: count & 3) * 8
        return shift == 0 ? key : key >> shift | key << (32 - shift)
    }
}

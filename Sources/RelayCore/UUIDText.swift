/// The text form of a UUID (RFC 9562, section 4).
package enum UUIDText {
    /// Whether `text` is 32 hexadecimal digits in groups of 8, 4, 4, 4 and 12.
    package static func isUUID(_ text: RawSpan) -> Bool {
        guard text.byteCount == 36 else { return false }
        for index in 0..<36 {
            let byte = text.unsafeLoad(fromByteOffset: index, as: UInt8.self)
            switch index {
            case 8, 13, 18, 23: if byte != UInt8(ascii: "-") { return false }
            default: if !Character(Unicode.Scalar(byte)).isHexDigit || byte >= 0x80 { return false }
            }
        }
        return true
    }

    /// Returns the bytes of `text`, in lower case if it is a UUID: the form in which posts compare.
    package static func form(of text: RawSpan) -> [UInt8] {
        let bytes = text.withUnsafeBytes { Array($0) }
        // Digits and hyphens have the bit already.
        return isUUID(text) ? bytes.map { $0 | 0x20 } : bytes
    }
}

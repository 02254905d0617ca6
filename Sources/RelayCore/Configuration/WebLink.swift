/// What makes a text an http or https link that can be shown and opened (RFC 3986).
package enum WebLink {
    /// The longest link that is taken from an event; browsers and chat services cut longer ones.
    package static let longest = 2048

    /// Appends a link that came with an event, with what is not ASCII percent-encoded, if it is http or https.
    ///
    /// A name and password before the host, other characters than those of a host in it, blanks, quotes and
    /// backslashes make it none: they serve to deceive.
    ///
    /// - Returns: whether it was a link.
    @discardableResult
    package static func append(_ text: RawSpan, to bytes: inout [UInt8]) -> Bool {
        guard text.byteCount <= longest, let scheme = schemeCount(text) else { return false }
        var index = scheme
        while index < text.byteCount, !endsHost(text.byte(index)) {
            guard isHostByte(text.byte(index)) else { return false }
            index += 1
        }
        guard index > scheme else { return false }
        let before = bytes.count
        for index in 0..<text.byteCount {
            let byte = text.byte(index)
            if isNeverInLinks(byte) {
                bytes.removeSubrange(before...)
                return false
            }
            byte < 0x80 ? bytes.append(byte) : appendEncoded(byte, to: &bytes)
        }
        return true
    }

    /// Appends `text` with everything but unreserved characters percent-encoded (RFC 3986, section 2.3).
    package static func appendEncoded(_ text: RawSpan, to bytes: inout [UInt8]) {
        for index in 0..<text.byteCount { appendEncoded(text.byte(index), to: &bytes) }
    }

    /// Appends one byte, percent-encoded unless it is unreserved.
    static func appendEncoded(_ byte: UInt8, to bytes: inout [UInt8]) {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            bytes.append(byte)
        default:
            bytes.append(UInt8(ascii: "%"))
            bytes.append(hexDigit(byte >> 4))
            bytes.append(hexDigit(byte & 15))
        }
    }

    private static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }

    /// Returns the length of `http://` or `https://` at the start of `text`, in any case, or nil.
    static func schemeCount(_ text: RawSpan) -> Int? {
        let secure: StaticString = "https://"
        let plain: StaticString = "http://"
        for scheme in [secure, plain] where text.byteCount >= scheme.utf8CodeUnitCount {
            let matches = scheme.withUTF8Buffer { letters in
                letters.indices.allSatisfy { index in
                    let byte = text.byte(index)
                    let isUpper = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
                    return (isUpper ? byte | 0x20 : byte) == letters[index]
                }
            }
            if matches { return scheme.utf8CodeUnitCount }
        }
        return nil
    }

    /// Whether a byte ends the host part.
    static func endsHost(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
    }

    /// Whether a byte may stand in a host with a port.
    static func isHostByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: ":"), UInt8(ascii: "["), UInt8(ascii: "]"):
            true
        default: false
        }
    }

    /// Whether an ASCII byte is a control character, a blank, or one that URLs exclude.
    static func isNeverInLinks(_ byte: UInt8) -> Bool {
        switch byte {
        case 0...0x20, 0x7F, UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\\"),
            UInt8(ascii: "^"), UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: "|"):
            true
        default: false
        }
    }
}

extension RawSpan {
    /// The byte at `index`, which is checked.
    @inline(__always) func byte(_ index: Int) -> UInt8 { unsafeLoad(fromByteOffset: index, as: UInt8.self) }
}

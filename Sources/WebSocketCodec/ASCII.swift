extension UInt8 {
    /// The byte with an ASCII capital made small.
    var lowercasedASCII: UInt8 { (0x41...0x5A).contains(self) ? self | 0x20 : self }

    /// Whether the byte is an ASCII digit.
    var isDigit: Bool { (0x30...0x39).contains(self) }

    /// Whether the byte is an ASCII letter.
    var isLetter: Bool { (0x61...0x7A).contains(self | 0x20) }

    /// The value of a hexadecimal digit.
    var hexValue: UInt8? {
        if isDigit { return self - 0x30 }
        return (0x61...0x66).contains(self | 0x20) ? (self | 0x20) - 0x61 + 10 : nil
    }

    /// Whether the byte may stand in the name of a header: RFC 9110, section 5.6.2, `tchar`.
    var isTokenCharacter: Bool { isDigit || isLetter || "!#$%&'*+-.^_`|~".utf8.contains(self) }

    /// Whether the byte is a space or a tab.
    var isBlank: Bool { self == 0x20 || self == 0x09 }

    /// Whether the byte is a control character.
    var isControl: Bool { self < 0x20 || self == 0x7F }
}

extension String {
    /// The text with ASCII capitals made small and nothing else changed, as HTTP compares names.
    var lowercasedASCII: String { String(decoding: utf8.map(\.lowercasedASCII), as: UTF8.self) }

    /// Returns whether the texts are equal but for the case of ASCII letters.
    func equalsIgnoringASCIICase(_ other: String) -> Bool {
        utf8.lazy.map(\.lowercasedASCII).elementsEqual(other.utf8.lazy.map(\.lowercasedASCII))
    }

    /// The text without spaces and tabs at its ends.
    var trimmedBlanks: String {
        let front = utf8.drop(while: \.isBlank)
        guard let last = front.lastIndex(where: { !$0.isBlank }) else { return "" }
        return String(Substring(front[...last]))
    }
}

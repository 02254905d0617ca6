/// Makes a stranger's bytes fit for an error message: one line, no control or invisible characters, bounded.
enum SafeText {
    /// Returns at most `limit` bytes of UTF-8 made of `bytes`.
    ///
    /// Runs of white space become one space; what cannot be shown becomes U+FFFD.
    static func make(_ bytes: some Collection<UInt8>, limit: Int = 200) -> String {
        var text = ""
        var count = 0
        var isAfterSpace = true
        // A character of the result comes from at least one byte; the factor leaves room for runs of white space.
        for scalar in String(decoding: bytes.prefix(limit * 8), as: UTF8.self).unicodeScalars {
            let isSpace = scalar.properties.isWhitespace
            if isSpace && isAfterSpace { continue }
            isAfterSpace = isSpace
            let shown: Unicode.Scalar = isSpace ? " " : isVisible(scalar) ? scalar : "\u{FFFD}"
            count += String(shown).utf8.count
            guard count <= limit else { break }
            text.unicodeScalars.append(shown)
        }
        return text.trimmedBlanks
    }

    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }
}

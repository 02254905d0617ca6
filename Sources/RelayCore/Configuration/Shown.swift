/// Texts of a configuration file as messages show them.
package enum Shown {
    /// Returns `text` in double quotes, cut after 60 characters.
    package static func quoted(_ text: String) -> String {
        let start = text.unicodeScalars.prefix(60)
        let isCut = start.endIndex != text.unicodeScalars.endIndex
        return "\"\(String(start))\(isCut ? "…" : "")\""
    }

    /// Returns `text` with what moves a terminal or reorders a line shown as `\u{..}`.
    package static func printable(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isUnprintable) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            if isUnprintable(scalar) {
                result += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    private static func isUnprintable(_ scalar: Unicode.Scalar) -> Bool {
        if (0x20..<0x7F).contains(scalar.value) { return false }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: return true
        default: return false
        }
    }
}

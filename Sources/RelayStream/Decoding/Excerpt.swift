internal import RelayCore

/// The start of a message as it may be shown in a log.
enum Excerpt {
    private static let mostCharacters = 200

    /// Returns at most 200 characters of `bytes` without the secrets; control and format characters as `\u{..}`,
    /// ill-formed bytes as U+FFFD.
    static func of(_ bytes: UnsafeRawBufferPointer, hiding secrets: [Secret] = []) -> String {
        // A character takes at most four bytes, before it is shown as an escape.
        let clear = ServerText.redacted(Array(bytes.prefix(mostCharacters * 4)), hiding: secrets)
        let start = String(decoding: clear, as: UTF8.self)
        var text = ""
        var count = 0
        for scalar in start.unicodeScalars {
            let shown = show(scalar)
            count += shown.utf8.count > 4 ? shown.utf8.count : 1
            guard count <= mostCharacters else { return text + "…" }
            text += shown
        }
        return bytes.count > mostCharacters * 4 ? text + "…" : text
    }

    private static func show(_ scalar: Unicode.Scalar) -> String {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned, .surrogate:
            "\\u{\(String(scalar.value, radix: 16))}"
        default: String(scalar)
        }
    }
}

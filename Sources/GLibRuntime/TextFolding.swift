internal import CGLib

/// Brings names into the form in which they are compared: NFC and casefolded.
package enum TextFolding {
    /// Returns `text` folded, so that any case and any composition of the same letters give the same bytes.
    ///
    /// What is not UTF-8 is taken as U+FFFD. Text up to U+00FF does not reach GLib, which takes microseconds. The C functions are `g_utf8_normalize` and
    /// `g_utf8_casefold`.
    package static func fold(_ text: [UInt8]) -> [UInt8] {
        if let folded = foldLatin(text) { return folded }
        var valid = String(decoding: text, as: UTF8.self)
        return valid.withUTF8 { bytes in
            // The C functions stop at a NUL, so the pieces between are folded one by one.
            Array(bytes.split(separator: 0, omittingEmptySubsequences: false).map(foldPiece).joined(separator: [0]))
        }
    }

    /// Returns `text` folded.
    package static func fold(_ text: RawSpan) -> [UInt8] {
        fold(text.withUnsafeBytes { Array($0) })
    }

    /// Returns `text` folded.
    package static func fold(_ text: String) -> String {
        String(decoding: fold(Array(text.utf8)), as: UTF8.self)
    }

    /// Returns `text` folded if it holds nothing but ASCII and the letters from U+00C0 to U+00FF, each of which is one
    /// character and has one small letter; not `\u{DF}`, which becomes two.
    private static func foldLatin(_ text: [UInt8]) -> [UInt8]? {
        var folded = text
        var index = 0
        while index < text.count {
            let byte = text[index]
            if byte < 0x80 {
                if (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) { folded[index] = byte | 0x20 }
                index += 1
                continue
            }
            // The second byte is the letter with its high bits cut: 0x80 for U+00C0.
            guard byte == 0xC3, index + 1 < text.count else { return nil }
            let letter = text[index + 1]
            guard (0x80...0xBF).contains(letter), letter != 0x9F else { return nil }
            // Capitals end at U+00DE; U+00D7 among them is the sign for multiplication.
            if letter < 0x9F, letter != 0x97 { folded[index + 1] = letter + 0x20 }
            index += 2
        }
        return folded
    }

    private static func foldPiece(_ piece: Slice<UnsafeBufferPointer<UInt8>>) -> [UInt8] {
        let piece = UnsafeBufferPointer(rebasing: piece)
        guard let start = piece.baseAddress, !piece.isEmpty else { return [] }
        let text = UnsafeRawPointer(start).assumingMemoryBound(to: CChar.self)
        // None of these fails on UTF-8.
        guard let composed = g_utf8_normalize(text, piece.count, G_NORMALIZE_NFC) else { return Array(piece) }
        defer { g_free(composed) }
        guard let folded = g_utf8_casefold(composed, -1) else { return Array(piece) }
        defer { g_free(folded) }
        guard let result = g_utf8_normalize(folded, -1, G_NORMALIZE_NFC) else { return Array(piece) }
        defer { g_free(result) }
        return Array(String(cString: result).utf8)
    }
}

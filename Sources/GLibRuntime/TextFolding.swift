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
            // The C functions stop at a NUL, so the texts between are folded one by one.
            Array(bytes.split(separator: 0, omittingEmptySubsequences: false).map(foldText).joined(separator: [0]))
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

    /// The most bytes that GLib gets at once.
    ///
    /// The time it takes to compose and to order marks grows with the square of the length: a name of a megabyte took
    /// more than a minute. A longer text is cut where nothing combines; if there is no such place, as among hundreds of
    /// marks on one letter, anywhere between scalars.
    private static let longestPiece = 256

    private static func foldText(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> [UInt8] {
        guard text.count > longestPiece else { return foldPiece(text) }
        var folded: [UInt8] = []
        var rest = text
        while rest.count > longestPiece {
            var end = rest.startIndex + longestPiece
            while end > rest.startIndex + 1, isContinuation(rest[end]) { end -= 1 }
            let cut =
                stride(from: end, to: rest.startIndex, by: -1).first { nothingCombines(before: rest[$0...]) } ?? end
            folded += foldPiece(rest[..<cut])
            rest = rest[cut...]
        }
        return folded + foldPiece(rest)
    }

    private static func isContinuation(_ byte: UInt8) -> Bool { byte & 0b1100_0000 == 0b1000_0000 }

    /// Whether the text begins with a scalar that combines with none before it.
    ///
    /// Marks do, and the medial vowels and final consonants of Hangul; so do some letters of scripts beyond the first
    /// plane, which are left out whole.
    private static func nothingCombines(before text: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        guard let first = text.first, !isContinuation(first),
            let scalar = String(decoding: text.prefix(4), as: UTF8.self).unicodeScalars.first
        else { return false }
        if scalar.value < 0x300 { return true }
        if scalar.value > 0xFFFF || (0x1100...0x11FF).contains(scalar.value) { return false }
        return g_unichar_combining_class(scalar.value) == 0 && g_unichar_ismark(scalar.value) == 0
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

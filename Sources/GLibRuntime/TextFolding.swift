internal import CGLib

/// Brings names into the form in which they are compared: NFC and casefolded.
package enum TextFolding {
    /// Returns `text` folded, so that any case and any composition of the same letters give the same bytes.
    ///
    /// What is not UTF-8 is taken as U+FFFD. ASCII does not reach GLib. The C functions are `g_utf8_normalize` and
    /// `g_utf8_casefold`.
    package static func fold(_ text: [UInt8]) -> [UInt8] {
        if text.allSatisfy({ $0 < 0x80 }) { return foldASCII(text) }
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

    private static func foldASCII(_ text: [UInt8]) -> [UInt8] {
        text.map { byte in (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte }
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

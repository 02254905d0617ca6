internal import CGLib

/// A regular expression of GLib's, safe to run on strangers' text: it sees a bounded text for a bounded time.
package final class TextPattern: Sendable {
    /// What a search found.
    package enum Match: Sendable, Equatable {
        case yes
        case no
        /// The search took too many steps and was given up.
        case overLimit
    }

    /// Why a pattern cannot be used.
    package enum Fault: Error, Sendable, Equatable, CustomStringConvertible {
        /// It begins with `(*`, which would override our own limit.
        case startsWithVerb
        /// It contains a NUL character.
        case containsNUL
        /// It does not compile.
        case invalid(String)

        package var description: String {
            switch self {
            case .startsWithVerb: "a pattern must not begin with \"(*\""
            case .containsNUL: "a pattern must not contain a NUL character"
            case .invalid(let message): message
            }
        }
    }

    /// How much of a text a pattern sees, in bytes.
    package static let textLimit = 16 << 10

    // A compiled GRegex is not changed any more once it has matched once with the same options (see `init`), and
    // matching it is documented as thread-safe.
    nonisolated(unsafe) private let regex: OpaquePointer

    /// Compiles `source`.
    package init(_ source: String) throws(Fault) {
        if source.utf8.starts(with: "(*".utf8) { throw .startsWithVerb }
        if source.utf8.contains(0) { throw .containsNUL }
        // There is no setter for the limit. It stops `(a+)+$` on 50 000 letters within a millisecond.
        guard let regex = g_regex_new("(*LIMIT_MATCH=10000)" + source, G_REGEX_OPTIMIZE, Self.options, nil) else {
            throw .invalid(Self.fault(of: source))
        }
        self.regex = regex
        // The first match compiles for the processor, into the shared object: here, where nobody shares it yet.
        g_regex_match(regex, "", Self.options, nil)
    }

    deinit {
        g_regex_unref(regex)
    }

    /// Searches the first ``textLimit`` bytes of `text`; what is not UTF-8 does not match.
    package func match(_ text: RawSpan) -> Match {
        text.withUnsafeBytes { bytes in
            let visible = Self.visiblePart(of: bytes)
            guard Self.isUTF8(visible) else { return .no }
            // The C function wants an address for an empty text too.
            guard let start = visible.bindMemory(to: CChar.self).baseAddress else { return search("", 0) }
            return search(start, visible.count)
        }
    }

    /// Searches the first ``textLimit`` bytes of `text`.
    package func match(_ text: String) -> Match {
        match(Array(text.utf8).span.bytes)
    }

    private func search(_ text: UnsafePointer<CChar>, _ count: Int) -> Match {
        var error: UnsafeMutablePointer<GError>?
        let isFound = g_regex_match_full(regex, text, count, 0, Self.options, nil, &error) != 0
        guard let error else { return isFound ? .yes : .no }
        g_error_free(error)
        return .overLimit
    }

    /// No flags at all, in every call: other ones would compile for the processor anew.
    private static let options = GRegexMatchFlags(rawValue: 0)

    /// Cuts before the character that crosses the limit.
    private static func visiblePart(of bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        guard bytes.count > textLimit else { return bytes }
        var end = textLimit
        while end > textLimit - 4, bytes[end] & 0xC0 == 0x80 { end -= 1 }
        return UnsafeRawBufferPointer(rebasing: bytes[..<end])
    }

    private static func isUTF8(_ bytes: UnsafeRawBufferPointer) -> Bool {
        (try? UTF8Span(validating: bytes.bindMemory(to: UInt8.self).span)) != nil
    }

    /// Compiles without the prefix, so that the message speaks of the pattern as it was written.
    private static func fault(of source: String) -> String {
        var error: UnsafeMutablePointer<GError>?
        if let regex = g_regex_new(source, G_REGEX_DEFAULT, options, &error) {
            g_regex_unref(regex)
            return "the pattern is too large"
        }
        return GLibError(taking: error).message
    }
}

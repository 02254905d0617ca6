/// Text that a stranger wrote: valid UTF-8 that no sink may show without its encoder.
///
/// It has no `description`, so it cannot slip into a log line or a string by interpolation.
@usableFromInline package struct UntrustedText: Sendable, Hashable {
    /// The text as UTF-8.
    @usableFromInline package var utf8: [UInt8]

    /// Creates text from UTF-8 that has been checked already.
    @inlinable package init(utf8: [UInt8] = []) {
        self.utf8 = utf8
    }

    /// Creates text from a string, such as a literal of a test.
    package init(_ string: String) {
        utf8 = Array(string.utf8)
    }

    /// Whether there is no text at all.
    @inlinable package var isEmpty: Bool { utf8.isEmpty }

    /// The text as a string for an encoder to work on; ill-formed bytes become U+FFFD.
    package var string: String { String(decoding: utf8, as: UTF8.self) }
}

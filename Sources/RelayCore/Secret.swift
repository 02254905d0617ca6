/// A value that opens something: a token, or a webhook URL.
///
/// It prints as `<redacted>` everywhere; only `reveal()` gives the value, to the code that sends it.
package struct Secret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    private let value: String

    /// Wraps `value`.
    package init(_ value: String) {
        self.value = value
    }

    /// Returns the value, for the one place that sends it to the configured origin.
    package func reveal() -> String { value }

    package var description: String { "<redacted>" }
    package var debugDescription: String { "<redacted>" }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}

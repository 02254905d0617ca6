internal import CGLib

/// A `GError`, copied.
package struct GLibError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The domain's name, such as `g-io-error-quark`.
    package let domain: String
    /// The number within the domain.
    package let code: Int32
    /// The sentence GLib made.
    package let message: String

    /// Creates an error from its parts.
    package init(domain: String, code: Int32, message: String) {
        self.domain = domain
        self.code = code
        self.message = message
    }

    /// Copies `error` and frees it.
    init(taking error: UnsafeMutablePointer<GError>?) {
        guard let error else {
            self.init(domain: "none", code: 0, message: "failed without saying why")
            return
        }
        self.init(
            domain: g_quark_to_string(error.pointee.domain).map { String(cString: $0) } ?? "unknown",
            code: error.pointee.code,
            message: error.pointee.message.map { String(cString: $0) } ?? "no message")
        g_error_free(error)
    }

    package var description: String { "\(message) (\(domain) \(code))" }

    /// Whether this is GIO's error `code`.
    func isIO(_ code: GIOErrorEnum) -> Bool {
        domain == "g-io-error-quark" && self.code == Int32(code.rawValue)
    }

    /// Frees `error` and returns `nil` if it only says that there is nothing to do yet, else returns its copy.
    ///
    /// Not an error for the callers, and too frequent on the way of every byte to be copied.
    static func unlessWouldBlock(taking error: UnsafeMutablePointer<GError>?) -> GLibError? {
        guard let error, g_error_matches(error, g_io_error_quark(), Int32(G_IO_ERROR_WOULD_BLOCK.rawValue)) != 0
        else { return GLibError(taking: error) }
        g_error_free(error)
        return nil
    }
}

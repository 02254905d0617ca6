internal import Glibc

/// Writes texts of a command to the terminal: short, at once, and never to be waited for by anything else.
enum Console {
    /// Writes data to standard output.
    static func print(_ text: String) {
        write(text + "\n", to: 1)
    }

    /// Writes a diagnostic to standard error.
    static func complain(_ text: String, newline: Bool = true) {
        write(newline ? text + "\n" : text, to: 2)
    }

    private static func write(_ text: String, to descriptor: Int32) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 {
                if errno == EINTR { continue }
                return
            }
            rest = rest.dropFirst(count)
        }
    }
}

internal import GLibRuntime
internal import Glibc

/// Writes texts of a command to the terminal: short, at once, and never to be waited for by anything else.
enum Console {
    /// What could not be written.
    private struct Failure {
        /// The system's number of why standard output took no more; nil if it took all.
        var output: Int32?
        /// Whether standard error took no more.
        var isOfErrors = false
    }

    private static let failure = Locked(Failure())

    /// Writes data to standard output; `end` tells whether that failed.
    static func print(_ text: String) {
        guard let number = write(text + "\n", to: 1) else { return }
        failure.withLock { $0.output = $0.output ?? number }
    }

    /// Returns how a command ends that would end like this: it has failed if what it said could not be written.
    static func end(_ code: ExitCode) -> ExitCode {
        let failure = failure.withLock { $0 }
        if let sentence = failure.output.flatMap(sentence) { complain(sentence) }
        return code == .done && (failure.output != nil || failure.isOfErrors) ? .failed : code
    }

    /// Returns what there is to say of a failure to write; a reader that went away needs no sentence.
    static func sentence(_ number: Int32) -> String? {
        number == EPIPE
            ? nil : "chirp-relay: standard output cannot be written: \(String(cString: strerror(number)))"
    }

    /// Writes a diagnostic to standard error.
    static func complain(_ text: String, newline: Bool = true) {
        guard write(newline ? text + "\n" : text, to: 2) != nil else { return }
        failure.withLock { $0.isOfErrors = true }
    }

    /// Writes all of a text; returns the number of the error if it cannot.
    private static func write(_ text: String, to descriptor: Int32) -> Int32? {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 {
                if errno == EINTR { continue }
                return errno
            }
            rest = rest.dropFirst(count)
        }
        return nil
    }
}

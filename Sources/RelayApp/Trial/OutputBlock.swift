internal import GLibRuntime
internal import Glibc

/// Collects what a command prints on standard output and writes it in large pieces.
///
/// Writing waits for the reader: a try has nothing else to do.
@MainLoop
final class OutputBlock {
    /// The bytes that are not written yet.
    var bytes: [UInt8] = []
    /// Called before each write, to take a progress line off the terminal.
    var beforeWrite: (@MainLoop () -> Void)?
    /// Why standard output takes nothing any more: the number of the system's error.
    private(set) var failure: Int32?

    private static let size = 64 << 10

    /// Writes what there is, if that is much.
    func writeIfLarge() {
        if bytes.count >= Self.size { write() }
    }

    /// Writes what there is.
    func write() {
        guard !bytes.isEmpty else { return }
        beforeWrite?()
        var written = 0
        while written < bytes.count, failure == nil {
            let count = bytes.withUnsafeBytes {
                Glibc.write(1, $0.baseAddress?.advanced(by: written), $0.count - written)
            }
            if count >= 0 { written += count } else if errno != EINTR { failure = errno }
        }
        bytes.removeAll(keepingCapacity: true)
    }

    /// Throws if standard output takes nothing any more; a reader that went away needs no sentence.
    func check() throws(CommandFault) {
        guard let failure else { return }
        throw CommandFault(.failed, Console.sentence(failure).map { [$0] } ?? [])
    }
}

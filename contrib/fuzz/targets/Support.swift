import Glibc

/// Ends the run with `message` if an invariant does not hold; libFuzzer then keeps the input.
func demand(_ condition: Bool, _ message: @autoclosure () -> String) {
    guard !condition else { return }
    let line = "broken invariant: \(message())\n"
    _ = line.utf8.withContiguousStorageIfAvailable { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    abort()
}

/// Demands that `bytes` are valid UTF-8 and returns them as a string.
@discardableResult
func demandText(_ bytes: some Collection<UInt8>, _ what: String) -> String {
    let text = String(validating: bytes, as: UTF8.self)
    demand(text != nil, "\(what) is not UTF-8")
    return text ?? ""
}

/// Demands that `text`, which goes into a log line or a message, has nothing in it that a terminal obeys.
func demandPrintable(_ text: String, _ what: String) {
    demand(text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }, "\(what) has a control")
}

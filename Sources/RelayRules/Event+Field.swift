internal import RelayCore

extension Event {
    /// Runs `body` with the bytes of a field, or returns `absent` if the event does not have it.
    ///
    /// Inlined within this module: the look-ups on the hot path take less time than a call of a generic function.
    @inline(__always)
    func reading<Result>(
        _ range: TextRange, absent: @autoclosure () -> Result, _ body: (RawSpan) -> Result
    ) -> Result {
        guard range.offset != .max else { return absent() }
        let start = Int(range.offset)
        return body(storage.span.bytes.extracting(start..<(start + Int(range.count))))
    }
}

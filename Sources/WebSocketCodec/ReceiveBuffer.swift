/// The one buffer of a decoder: the transport writes behind `tail`, the decoder reads from `head`, and the parts of
/// an unfinished message are kept in front, so that a message is always one range.
///
///     | free | kept | frame heads already read | unread | room | slack |
///                                              head     tail
///
/// The decoder reads on until only an incomplete head or control frame is unread. The buffer then never takes more
/// than the largest message, one read and the slack.
struct ReceiveBuffer: Sendable {
    /// How many bytes behind any message can be read, which is what simdjson asks for (`SIMDJSON_PADDING`).
    static let slack = 64
    /// Large enough that the cost of a read is spread over hundreds of events.
    static let chunk = 65_536

    /// The bytes; those from `tail` on mean nothing.
    private(set) var storage: [UInt8] = []
    /// Where the unread bytes begin.
    var head = 0
    /// Where the unread bytes end.
    private(set) var tail = 0
    /// The part of an unfinished message that is here, in front of `head`.
    var kept = 0..<0
    /// What a growing message doubles the buffer up to.
    private let ceiling: Int

    init(largestMessage: Int) {
        ceiling = largestMessage + Self.chunk + Self.slack + FrameHeader.longest
    }

    /// Calls `body` with at least `minimum` bytes to write to.
    ///
    /// `expected` is how many bytes the frame being read still lacks, so that they fit in without another copy.
    mutating func withRoom<Result, Failure: Error>(
        atLeast minimum: Int, expected: Int, _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        makeRoom(for: max(minimum, 1), expected: expected)
        let room = tail..<(storage.count - Self.slack)
        return try storage.withUnsafeMutableBufferPointer { bytes throws(Failure) in
            try body(UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(bytes)[room]))
        }
    }

    /// Counts `count` bytes as written.
    mutating func commit(_ count: Int) {
        precondition(count >= 0 && count <= storage.count - Self.slack - tail, "more committed than there was room for")
        tail += count
    }

    /// Adds the next `count` unread bytes to what is kept.
    mutating func keep(_ count: Int) {
        if kept.upperBound != head { move(head..<(head + count), to: kept.upperBound) }
        kept = kept.lowerBound..<(kept.upperBound + count)
        head += count
    }

    /// Unmasks the next `count` unread bytes in place.
    mutating func unmask(_ count: Int, key: UInt32) {
        let range = head..<(head + count)
        var span = storage.mutableSpan
        var bytes = span.mutableBytes
        Masking.apply(key, to: &bytes, in: range)
    }

    /// Overwrites bytes that have been read, a few at a time, with spaces.
    mutating func blank(_ range: Range<Int>) {
        var bytes = storage.mutableSpan
        for index in range { bytes[index] = UInt8(ascii: " ") }
    }

    private mutating func makeRoom(for minimum: Int, expected: Int) {
        let unread = tail - head
        if kept.isEmpty && unread == 0 { (head, tail, kept) = (0, 0, 0..<0) }
        let needed = kept.count + unread + expected + minimum + Self.slack
        // A buffer that grew for a large message goes back when nothing is left of it.
        let isOversized = kept.isEmpty && expected == 0 && storage.count / 2 > max(needed, Self.chunk)
        if isOversized {
            reallocate(needed)
        } else if storage.count - Self.slack - tail < minimum {
            if needed <= storage.count {
                compact()
            } else {
                // Doubling makes the cost of a message of many fragments linear.
                reallocate(max(needed, min(storage.count * 2, ceiling)))
            }
        }
    }

    private mutating func compact() {
        let keptCount = kept.count
        let unread = head..<tail
        move(kept, to: 0)
        move(unread, to: keptCount)
        settle(keptCount: keptCount, unread: unread.count)
    }

    private mutating func reallocate(_ count: Int) {
        let keptCount = kept.count
        let unread = head..<tail
        var larger = [UInt8](repeating: 0, count: count)
        larger.withUnsafeMutableBytes { target in
            storage.withUnsafeBytes { source in
                target.copyMemory(from: UnsafeRawBufferPointer(rebasing: source[kept]))
                UnsafeMutableRawBufferPointer(rebasing: target[keptCount...])
                    .copyMemory(from: UnsafeRawBufferPointer(rebasing: source[unread]))
            }
        }
        storage = larger
        settle(keptCount: keptCount, unread: unread.count)
    }

    private mutating func settle(keptCount: Int, unread: Int) {
        kept = 0..<keptCount
        head = keptCount
        tail = keptCount + unread
    }

    /// Moves bytes towards the front; the ranges may overlap.
    private mutating func move(_ source: Range<Int>, to target: Int) {
        guard source.lowerBound != target, !source.isEmpty else { return }
        storage.withUnsafeMutableBytes { bytes in
            UnsafeMutableRawBufferPointer(rebasing: bytes[target...])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[source]))
        }
    }
}

internal import GLibRuntime
internal import RelayCore

/// A silence as the fast path asks it: what is compared is brought into the form of comparison once.
///
/// The journal does the same for what it accepts.
struct FastSilence: Sendable {
    private let matcher: Silence.Matcher
    private let kind: [UInt8]?
    private let actor: [UInt8]?
    private let post: [UInt8]?
    private let until: Instant

    /// Prepares a silence.
    init(_ silence: Silence) {
        matcher = silence.matcher
        kind = matcher.kind.map { Array($0.utf8) }
        actor = matcher.actor.map { TextFolding.fold(Array($0.utf8)) }
        post = matcher.post.map { Self.comparable(Array($0.utf8)) }
        until = silence.until
    }

    /// Whether it is over at this time of the wall clock.
    func isOver(at wall: Instant) -> Bool { until <= wall }

    /// Whether it covers an effect at this time of the wall clock.
    func covers(_ event: borrowing Event, rule: String, sink: String, at wall: Instant) -> Bool {
        guard !isOver(at: wall), Self.agrees(matcher.rule, rule), Self.agrees(matcher.sink, sink),
            Self.agrees(matcher.stream, event.stream)
        else { return false }
        if let kind, Self.bytes(of: event.record.kind, event) != kind { return false }
        if let actor, Self.bytes(of: event.record.actor, event).map(TextFolding.fold) != actor { return false }
        if let post, Self.bytes(of: event.record.post, event).map(Self.comparable) != post { return false }
        return true
    }

    private static func agrees(_ asked: String?, _ name: String) -> Bool {
        asked.map { $0 == name } ?? true
    }

    private static func bytes(of range: TextRange, _ event: borrowing Event) -> [UInt8]? {
        guard range.isPresent else { return nil }
        return event.withBytes(of: range) { bytes in bytes.withUnsafeBytes { Array($0) } }
    }

    /// Lower case for what looks like a UUID: two ways to write one are the same.
    private static func comparable(_ text: [UInt8]) -> [UInt8] {
        let hyphens: Set = [8, 13, 18, 23]
        guard text.count == 36 else { return text }
        let isUUID = text.enumerated().allSatisfy { place, byte in
            if hyphens.contains(place) { return byte == UInt8(ascii: "-") }
            let lower = byte | 0x20
            let isDigit = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            return isDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(lower)
        }
        guard isUUID else { return text }
        return text.map { (UInt8(ascii: "A")...UInt8(ascii: "F")).contains($0) ? $0 | 0x20 : $0 }
    }
}

internal import GLibRuntime

/// What makes two effects one key of a limit or a repeat, or one group of a digest.
///
/// The first 16 bytes of a SHA-256 over length-prefixed fields, so that an actor's name of a megabyte takes no more
/// memory than one of three letters. Fields are in the form in which conditions compare them; an absent one is a value.
package struct EffectKey: Sendable, Hashable, BitwiseCopyable {
    /// What a key is for.
    package enum Role: String, Sendable {
        case limit, `repeat`, digest
        /// What a rule shares for one sink when a table is full.
        case others
    }

    /// The first eight bytes.
    package let high: UInt64
    /// The other eight bytes.
    package let low: UInt64

    /// Creates a key from its two halves, as they were stored.
    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Creates the key of an event by some of its fields, whose order does not matter.
    package init(_ role: Role, rule: String, sink: String, by fields: [KeyField], of event: Event) {
        var writer = KeyWriter(role.rawValue)
        writer.append(rule.utf8)
        writer.append(sink.utf8)
        for field in KeyField.allCases where fields.contains(field) {
            writer.append(field.rawValue.utf8)
            if let form = field.form(in: event) { writer.append(form) } else { writer.appendAbsent() }
        }
        self.init(writer)
    }

    /// Creates the key that a rule shares for one sink when a table is full.
    package init(othersOf rule: String, sink: String) {
        var writer = KeyWriter(Role.others.rawValue)
        writer.append(rule.utf8)
        writer.append(sink.utf8)
        self.init(writer)
    }

    private init(_ writer: KeyWriter) {
        let hash = writer.hash()
        let bytes = hash.span.bytes
        self.init(
            high: bytes.unsafeLoadUnaligned(fromByteOffset: 0, as: UInt64.self),
            low: bytes.unsafeLoadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }
}

extension KeyField {
    /// Returns the field of an event in the form in which it is compared; nil if it is absent.
    package func form(in event: Event) -> [UInt8]? {
        switch self {
        case .stream: return Array(event.stream.utf8)
        case .kind: return event.withBytes(of: event.record.kind) { $0.withUnsafeBytes { Array($0) } }
        case .actor:
            guard event.record.actor.isPresent else { return nil }
            return event.withBytes(of: event.record.actor) { TextFolding.fold($0) }
        case .post:
            guard event.record.post.isPresent else { return nil }
            return event.withBytes(of: event.record.post) { UUIDText.form(of: $0) }
        }
    }

    /// Returns the field of an event as it came; nil if it is absent.
    package func text(in event: Event) -> UntrustedText? {
        switch self {
        case .stream: UntrustedText(event.stream)
        case .kind: event.text(of: event.record.kind)
        case .actor: event.text(of: event.record.actor)
        case .post: event.text(of: event.record.post)
        }
    }
}

extension [KeyField] {
    /// Returns these fields of an event as they came, as people and machines read a group; "-" for an absent one.
    package func label(of event: Event) -> UntrustedText {
        var bytes: [UInt8] = []
        for (index, field) in enumerated() {
            if index > 0 { bytes.append(contentsOf: ", ".utf8) }
            bytes.append(contentsOf: field.text(in: event)?.utf8 ?? [UInt8(ascii: "-")])
        }
        return UntrustedText(utf8: bytes)
    }
}

internal import GLibRuntime

/// The silences in force, at most `Silence.most`.
///
/// A value, which costs next to nothing to ask while it is empty: the journal keeps one, and who delivers without the
/// journal asks a copy.
package struct SilenceBook: Sendable {
    private var entries: [Entry] = []
    private var index = SilenceIndex([])
    /// The last id that was given.
    package private(set) var lastID: UInt64 = 0

    /// Creates an empty book.
    package init() {}

    /// Creates a book with silences as a journal returned or stored them, and the last id that was given.
    package init(_ silences: [Silence], lastID: UInt64 = 0) {
        entries = silences.map(Entry.init)
        index = SilenceIndex(entries)
        self.lastID = max(lastID, silences.map(\.id).max() ?? 0)
    }

    /// Whether nothing is silenced.
    package var isEmpty: Bool { entries.isEmpty }

    /// The silences, oldest first; some may be over.
    package var silences: [Silence] { entries.map(\.silence) }

    /// Adds a silence, from now on until `until`, by the wall clock.
    package mutating func add(
        _ matcher: Silence.Matcher, until: Instant, at wall: Instant
    ) throws(SilenceFault) -> Silence {
        if matcher == Silence.Matcher() { throw .empty }
        if until <= wall { throw .over }
        removeEnded(at: wall)
        if entries.count >= Silence.most { throw .tooMany }
        lastID += 1
        let silence = Silence(id: lastID, matcher: matcher, until: until)
        entries.append(Entry(silence))
        index = SilenceIndex(entries)
        return silence
    }

    /// Ends a silence; returns whether there was one.
    package mutating func remove(_ id: UInt64, at wall: Instant) -> Bool {
        removeEnded(at: wall)
        guard let place = entries.firstIndex(where: { $0.silence.id == id }) else { return false }
        entries.remove(at: place)
        index = SilenceIndex(entries)
        return true
    }

    /// Forgets the silences that are over.
    package mutating func removeEnded(at wall: Instant) {
        guard entries.contains(where: { $0.silence.until <= wall }) else { return }
        entries.removeAll { $0.silence.until <= wall }
        index = SilenceIndex(entries)
    }

    /// Whether a silence covers what `rule` would send to `sink` about an event.
    package func covers(_ event: Event, rule: String, sink: String, at wall: Instant) -> Bool {
        if entries.isEmpty { return false }
        var forms = Forms(event)
        return index.contains(&forms, rule: rule, sink: sink) { place, forms in
            wall < entries[place].silence.until && entries[place].covers(&forms, rule: rule, sink: sink)
        }
    }

    /// A silence with its matcher in the forms in which it compares.
    struct Entry: Sendable {
        let silence: Silence
        let kind: [UInt8]?
        let actor: [UInt8]?
        let post: [UInt8]?

        init(_ silence: Silence) {
            self.silence = silence
            kind = silence.matcher.kind.map { Array($0.utf8) }
            actor = silence.matcher.actor.map { TextFolding.fold(Array($0.utf8)) }
            post = silence.matcher.post.map { UUIDText.form(of: Array($0.utf8).span.bytes) }
        }

        /// The cheap comparisons come first; folding a name is the dearest.
        func covers(_ forms: inout Forms, rule: String, sink: String) -> Bool {
            let matcher = silence.matcher
            if let wanted = matcher.sink, wanted != sink { return false }
            if let wanted = matcher.rule, wanted != rule { return false }
            if let wanted = matcher.stream, wanted != forms.event.stream { return false }
            if let kind, kind != forms.kind { return false }
            if let post, post != forms.post { return false }
            if let actor, actor != forms.actor { return false }
            return true
        }
    }

    /// The fields of an event in the forms in which they compare, each made when it is first asked for.
    struct Forms {
        let event: Event
        lazy var kind = KeyField.kind.form(in: event)
        lazy var actor = KeyField.actor.form(in: event)
        lazy var post = KeyField.post.form(in: event)

        init(_ event: Event) {
            self.event = event
        }
    }
}

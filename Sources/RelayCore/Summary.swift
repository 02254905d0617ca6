/// What machines read of a digest or a briefing: the members of its line beside the notice.
package struct Summary: Sendable {
    /// The group as people read it, such as the post; for a briefing the name of its time.
    package var key: UntrustedText
    /// How many events there are.
    package var count: Int
    /// The ids of the first events.
    package var events: [UntrustedText] = []
    /// The first actors, each once.
    package var actors: [UntrustedText] = []
    /// The first posts, each once.
    package var posts: [UntrustedText] = []
    /// When the first event happened.
    package var first: Instant
    /// When the last event happened.
    package var last: Instant

    /// The most ids, actors and posts that are listed.
    package static let mostListed = 100

    /// Sums up what was gathered.
    package init(key: UntrustedText, of gathering: Gathering) {
        self.key = key
        count = gathering.count
        first = gathering.first
        last = gathering.last
        events = gathering.items.prefix(Self.mostListed).compactMap { $0.event.text(of: $0.event.record.id) }
        actors = Self.distinct(\.actor, of: gathering)
        posts = Self.distinct(\.post, of: gathering)
    }

    private static func distinct(
        _ field: KeyPath<EventRecord, TextRange>, of gathering: Gathering
    ) -> [UntrustedText] {
        var seen: Set<UntrustedText> = []
        var texts: [UntrustedText] = []
        for item in gathering.items where texts.count < mostListed {
            guard let text = item.event.text(of: item.event.record[keyPath: field]) else { continue }
            if seen.insert(text).inserted { texts.append(text) }
        }
        return texts
    }

    /// An estimate of the memory it takes.
    package var byteCount: Int {
        [events, actors, posts].joined().reduce(key.utf8.count) { $0 + $1.utf8.count + 32 }
    }
}

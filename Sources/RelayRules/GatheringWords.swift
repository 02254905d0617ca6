internal import GLibRuntime
internal import RelayCore

/// The words of one notice of several events.
///
/// What is counted is counted once, in a pass over at most 10 000 events.
struct GatheringWords {
    /// How often something came, and the event by which it is told.
    struct Tally {
        /// The first of its events.
        var event: Event
        /// How many there are.
        var count: Int
    }

    /// The listed events, at least one.
    private let items: [Gathering.Item]
    private let gathering: Gathering
    private let zone: Zone?
    /// The different actors in the order they came, those of the rule's lists first.
    private let actors: [Tally]
    /// The different posts.
    private let posts: [Tally]
    /// The different kinds, most events first.
    let kinds: [Tally]
    /// Events that are counted but not listed.
    private let unlisted: Int

    /// The most kinds that are counted out; of more, the rest is a number.
    private static let mostKinds = 4
    /// The most texts that the usual body quotes: with the actors and what was suppressed six lines, as popups show.
    private static let mostTexts = 4
    /// The most graphemes of a line of the usual body.
    static let longestLine = 100

    /// Sums up what a rule gathered; nil for a rule that is no longer there.
    init(_ gathering: Gathering, of rule: Rule?) {
        self.gathering = gathering
        items = gathering.items
        zone = rule?.wording.zone
        unlisted = max(0, gathering.count - gathering.items.count)
        let actors = Self.distinct(items, Self.actorKey)
        self.actors = rule.map { Self.sorted(actors, first: $0.firstActors) } ?? actors
        posts = Self.distinct(items) { event in
            Self.key(of: event, \.post) { Comparison.exactOrUUID.form(of: String(decoding: $0, as: UTF8.self)) }
        }
        // A stable order, so that equal counts are told as they came.
        kinds = Self.distinct(items) { Self.key(of: $0, \.kind) { $0 } }.enumerated()
            .sorted { ($1.element.count, $0.offset) < ($0.element.count, $1.offset) }.map(\.element)
    }

    /// Appends a template filled from the events.
    func append(_ template: Template, as layout: TextCleaning.Layout, to bytes: inout [UInt8]) {
        guard let last = items.last?.event else { return }
        for part in template.parts {
            switch part {
            case .literal(let literal): bytes.append(contentsOf: literal)
            case .field(let pointer): Wording.append(pointer, of: last, as: layout, to: &bytes)
            case .placeholder(let placeholder):
                switch placeholder {
                case .actor, .actors: appendActors(to: &bytes)
                case .post, .posts: appendPosts(to: &bytes)
                case .kind: appendKindNames(to: &bytes)
                case .count: bytes.append(contentsOf: String(gathering.count).utf8)
                case .first: append(gathering.first, to: &bytes)
                case .last: append(gathering.last, to: &bytes)
                case .id, .text, .createdAt, .stream:
                    Wording.append(placeholder, last, zone, layout, to: &bytes)
                case .title, .body, .link, .rule, .sink, .key: break
                }
            }
        }
    }

    /// What a text gives that names an urgency.
    func urgency(_ choice: RuleWording.UrgencyChoice) -> Urgency {
        switch choice {
        case .fixed(let urgency): return urgency
        case .template(let template):
            var text: [UInt8] = []
            append(template, as: .line, to: &text)
            return Urgency(rawValue: String(decoding: text, as: UTF8.self)) ?? .normal
        }
    }

    // MARK: The usual words

    /// Appends the usual title: `ann, bo and 311 others liked your post`, or `12 likes and 3 comments`.
    func appendTitle(to bytes: inout [UInt8]) {
        if kinds.count > 1 {
            if actors.count == 1, unlisted == 0 {
                appendActors(to: &bytes)
                bytes.append(contentsOf: ": ".utf8)
            }
            appendCounts(to: &bytes)
            if posts.count == 1, posts[0].count == gathering.count { bytes.append(contentsOf: " on your post".utf8) }
            return
        }
        appendActors(to: &bytes)
        guard let kind = kinds.first?.event else { return }
        switch UsualKind(kind) {
        case .like: bytes.append(contentsOf: " liked \(yourPosts)".utf8)
        case .comment:
            let times = actors.count == 1 && unlisted == 0 && gathering.count > 1 ? " \(gathering.count) times" : ""
            bytes.append(contentsOf: " commented\(times) on \(yourPosts)".utf8)
        case .follow: bytes.append(contentsOf: " followed you".utf8)
        case nil:
            bytes.append(contentsOf: gathering.count > 1 ? ": \(gathering.count) × ".utf8 : ": ".utf8)
            Wording.append(kind.record.kind, of: kind, as: .line, to: &bytes)
        }
    }

    /// Appends the usual body: who, if the title does not say so, and the newest texts, oldest first.
    func appendBody(to bytes: inout [UInt8]) {
        var lines: [String] = []
        if kinds.count > 1, actors.count > 1 || unlisted > 0 {
            var names: [UInt8] = []
            appendActors(to: &names)
            lines.append(Self.line(names))
        }
        var texts: [String] = []
        for item in items.reversed() where texts.count < Self.mostTexts {
            guard let line = Self.quotation(item.event) else { continue }
            texts.append(line)
        }
        lines += texts.reversed()
        bytes.append(contentsOf: lines.joined(separator: "\n").utf8)
    }

    /// Returns `ann: what she wrote`; nil if the event has no text to show.
    private static func quotation(_ event: Event) -> String? {
        guard event.record.text.isPresent, event.record.text.count > 0 else { return nil }
        var bytes: [UInt8] = []
        Wording.appendActor(of: event, to: &bytes)
        bytes.append(contentsOf: ": ".utf8)
        let before = bytes.count
        Wording.append(event.record.text, of: event, as: .line, to: &bytes)
        return bytes.count > before ? line(bytes) : nil
    }

    /// Cuts a line of a body.
    static func line(_ bytes: [UInt8]) -> String {
        TextCut.graphemes(String(decoding: bytes, as: UTF8.self), max: longestLine)
    }

    private var yourPosts: String {
        if posts.count <= 1 { return "your post" }
        return (unlisted > 0 ? "at least " : "") + "\(posts.count) of your posts"
    }

    private func appendActors(to bytes: inout [UInt8]) {
        NameList.append(actors.count, isMinimum: unlisted > 0, to: &bytes) {
            Wording.appendActor(of: actors[$0].event, to: &$1)
        }
    }

    private func appendPosts(to bytes: inout [UInt8]) {
        guard !posts.isEmpty else { return }
        NameList.append(posts.count, isMinimum: unlisted > 0 && posts.count > 1, to: &bytes) {
            Wording.append(posts[$0].event.record.post, of: posts[$0].event, as: .line, to: &$1)
        }
    }

    private func appendKindNames(to bytes: inout [UInt8]) {
        for (place, kind) in kinds.prefix(Self.mostKinds).enumerated() {
            if place > 0 { bytes.append(contentsOf: ", ".utf8) }
            Wording.append(kind.event.record.kind, of: kind.event, as: .line, to: &bytes)
        }
        if kinds.count > Self.mostKinds { bytes.append(contentsOf: ", …".utf8) }
    }

    /// Appends how many there are of each kind: `312 likes, 4 comments and 2 new followers`.
    func appendCounts(to bytes: inout [UInt8]) {
        let said = kinds.prefix(Self.mostKinds)
        let rest = gathering.count - said.reduce(0) { $0 + $1.count }
        for (place, kind) in said.enumerated() {
            if place > 0 { bytes.append(contentsOf: (place == said.count - 1 && rest == 0 ? " and " : ", ").utf8) }
            append(kind, to: &bytes)
        }
        if rest > 0 { bytes.append(contentsOf: " and \(rest) more".utf8) }
    }

    private func append(_ kind: Tally, to bytes: inout [UInt8]) {
        let plural = kind.count == 1 ? "" : "s"
        switch UsualKind(kind.event) {
        case .like: bytes.append(contentsOf: "\(kind.count) like\(plural)".utf8)
        case .comment: bytes.append(contentsOf: "\(kind.count) comment\(plural)".utf8)
        case .follow: bytes.append(contentsOf: "\(kind.count) new follower\(plural)".utf8)
        case nil:
            bytes.append(contentsOf: "\(kind.count) × ".utf8)
            Wording.append(kind.event.record.kind, of: kind.event, as: .line, to: &bytes)
        }
    }

    private func append(_ time: Instant, to bytes: inout [UInt8]) {
        bytes.append(contentsOf: LocalTime.dateAndMinute(ofMilliseconds: time.milliseconds, in: zone).utf8)
    }

    // MARK: Counting

    /// The actor as names compare; names of which nothing can be seen are one, as they are all told as `someone`.
    private static func actorKey(of event: Event) -> [UInt8] {
        var cleaned: [UInt8] = []
        Wording.append(event.record.actor, of: event, as: .line, to: &cleaned)
        guard !cleaned.isEmpty else { return [] }
        return key(of: event, \.actor) { TextFolding.fold($0) } ?? []
    }

    private static func key(
        of event: Event, _ field: KeyPath<EventRecord, TextRange>, _ form: ([UInt8]) -> [UInt8]
    ) -> [UInt8]? {
        event.text(of: event.record[keyPath: field]).map { form($0.utf8) }
    }

    /// Returns what differs by `key`, in the order it came; events without a key are left out.
    private static func distinct(_ items: [Gathering.Item], _ key: (Event) -> [UInt8]?) -> [Tally] {
        var places: [[UInt8]: Int] = [:]
        var tallies: [Tally] = []
        for item in items {
            guard let key = key(item.event) else { continue }
            if let place = places[key] {
                tallies[place].count += 1
            } else {
                places[key] = tallies.count
                tallies.append(Tally(event: item.event, count: 1))
            }
        }
        return tallies
    }

    /// Returns the actors of the lists before the others, both in the order they came.
    private static func sorted(_ actors: [Tally], first lists: [ValueSet]) -> [Tally] {
        guard !lists.isEmpty else { return actors }
        let isListed = actors.map { actor in
            actor.event.reading(actor.event.record.actor, absent: false) { name in
                var scratch = Scratch(timeBits: 0)
                for list in lists where list.matches(name, nil, &scratch) { return true }
                return false
            }
        }
        let pairs = zip(actors, isListed)
        return pairs.filter(\.1).map(\.0) + pairs.filter { !$0.1 }.map(\.0)
    }
}

/// Finds the silences that can cover an effect, so that a thousand of them cost about what one does.
///
/// A silence asks for one value or several; it stands under the one that the fewest others ask for too. Silences that all
/// ask for the same, and end at different times, still cost one look each.
struct SilenceIndex: Sendable {
    /// A value that a silence can ask for, in the form in which it compares.
    private enum Key: Hashable {
        case rule(String), sink(String), stream(String), kind([UInt8]), post([UInt8]), actor([UInt8])
    }

    /// What silences ask for at all, so that nothing is hashed or folded for nobody.
    private struct Roles: OptionSet {
        let rawValue: UInt8
        static let rule = Roles(rawValue: 1)
        static let sink = Roles(rawValue: 2)
        static let stream = Roles(rawValue: 4)
        static let kind = Roles(rawValue: 8)
        static let post = Roles(rawValue: 16)
        static let actor = Roles(rawValue: 32)
    }

    private var places: [Key: [Int]] = [:]
    private var roles: Roles = []

    /// Creates the index of all silences of a book; each is named by its place there.
    init(_ entries: [SilenceBook.Entry]) {
        let keys = entries.map(Self.keys)
        var shares: [Key: Int] = [:]
        for key in keys.joined() { shares[key, default: 0] += 1 }
        for (place, keys) in keys.enumerated() {
            guard let key = keys.min(by: { shares[$0, default: 0] < shares[$1, default: 0] }) else { continue }
            places[key, default: []].append(place)
            roles.insert(Self.role(of: key))
        }
    }

    /// Whether one of the silences that can cover an effect does; to fold a name is the dearest, and comes last.
    func contains(
        _ forms: inout SilenceBook.Forms, rule: String, sink: String,
        where covers: (Int, inout SilenceBook.Forms) -> Bool
    ) -> Bool {
        func any(_ role: Roles, _ key: (inout SilenceBook.Forms) -> Key?) -> Bool {
            guard roles.contains(role), let key = key(&forms), let places = places[key] else { return false }
            return places.contains { covers($0, &forms) }
        }
        return any(.rule) { _ in .rule(rule) } || any(.sink) { _ in .sink(sink) }
            || any(.stream) { .stream($0.event.stream) } || any(.kind) { $0.kind.map { .kind($0) } }
            || any(.post) { $0.post.map { .post($0) } } || any(.actor) { $0.actor.map { .actor($0) } }
    }

    private static func keys(of entry: SilenceBook.Entry) -> [Key] {
        let matcher = entry.silence.matcher
        // Of those that as many ask for, the cheapest to look up comes first.
        return [
            matcher.rule.map { .rule($0) }, matcher.sink.map { .sink($0) }, matcher.stream.map { .stream($0) },
            entry.kind.map { .kind($0) }, entry.post.map { .post($0) }, entry.actor.map { .actor($0) },
        ].compactMap(\.self)
    }

    private static func role(of key: Key) -> Roles {
        switch key {
        case .rule: .rule
        case .sink: .sink
        case .stream: .stream
        case .kind: .kind
        case .post: .post
        case .actor: .actor
        }
    }
}

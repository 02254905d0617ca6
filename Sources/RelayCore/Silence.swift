/// A mute with an end.
package struct Silence: Sendable, Equatable {
    /// The journal's name for it, from 1; never used again.
    package var id: UInt64
    /// What an effect must have to be silenced; nil asks for nothing.
    package var matcher: Matcher
    /// When it ends, by the wall clock.
    package var until: Instant

    /// What an effect must have: all that is given must hold.
    package struct Matcher: Sendable, Equatable {
        /// The kind, as it came.
        package var kind: String?
        /// The actor, compared in NFC and casefolded.
        package var actor: String?
        /// The post.
        package var post: String?
        /// The name of the rule.
        package var rule: String?
        /// The name of the sink.
        package var sink: String?
        /// The name of the stream.
        package var stream: String?

        /// Creates a matcher.
        package init(
            kind: String? = nil, actor: String? = nil, post: String? = nil, rule: String? = nil, sink: String? = nil,
            stream: String? = nil
        ) {
            self.kind = kind
            self.actor = actor
            self.post = post
            self.rule = rule
            self.sink = sink
            self.stream = stream
        }
    }

    /// The most silences at a time.
    package static let most = 1000

    /// Creates a silence.
    package init(id: UInt64, matcher: Matcher, until: Instant) {
        self.id = id
        self.matcher = matcher
        self.until = until
    }
}

/// Why a silence was not taken.
package enum SilenceFault: Error, Sendable, Equatable, CustomStringConvertible {
    /// There are as many as there can be.
    case tooMany
    /// It asks for nothing, and would silence everything for ever after.
    case empty
    /// Its end has passed.
    case over

    package var description: String {
        switch self {
        case .tooMany: "there are \(Silence.most) silences already; remove one first"
        case .empty: "a silence needs at least one of kind, actor, post, rule, sink and stream"
        case .over: "the end of the silence lies in the past"
        }
    }
}

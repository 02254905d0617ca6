/// Where catch-up begins: the last event of a stream, in the order of arrival, before which everything is settled.
package struct StreamCursor: Sendable, Equatable {
    /// The id of the event as the server wrote it.
    package var id: UntrustedText
    /// When it happened, by the server's clock.
    package var createdAt: Instant

    /// Creates a cursor.
    package init(id: UntrustedText, createdAt: Instant) {
        self.id = id
        self.createdAt = createdAt
    }
}

/// How far one stream has come, as a commit saves it beside the effects of its events.
package struct StreamProgress: Sendable, Equatable {
    /// The name of the stream.
    package var stream: String
    /// The identities of events that were seen, oldest first: in a commit those since the last one.
    package var seen: [EventID]
    /// Where catch-up begins; nil if that is where it was.
    package var cursor: StreamCursor?
    /// How many events there were of which the history records nothing.
    package var unrecorded: Int

    /// The most identities that are kept of a stream.
    package static let mostSeen = 100_000

    /// Creates a progress.
    package init(stream: String, seen: [EventID] = [], cursor: StreamCursor? = nil, unrecorded: Int = 0) {
        self.stream = stream
        self.seen = seen
        self.cursor = cursor
        self.unrecorded = unrecorded
    }
}

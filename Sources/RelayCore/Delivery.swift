/// One notice bound for one sink, with its idempotency key.
///
/// What every attempt sends is a pure function of this value.
package struct Delivery: Sendable {
    /// Unique for ever, and the same for every attempt: base32 of a SHA-256 over length-prefixed fields.
    package var key: String
    /// The name of the sink.
    package var sink: String
    /// What to show.
    package var notice: Notice
    /// What it tells of.
    package var content: Content

    /// What a delivery tells of.
    package enum Content: Sendable {
        /// One event, compacted.
        case event(Event)
        /// Several events of one group.
        case digest(Summary)
        /// What was held in quiet hours.
        case briefing(Summary)
    }

    /// Creates a delivery.
    package init(key: String, sink: String, notice: Notice, content: Content) {
        self.key = key
        self.sink = sink
        self.notice = notice
        self.content = content
    }

    /// How many effects it carries.
    package var effects: Int {
        switch content {
        case .event: 1
        case .digest(let summary), .briefing(let summary): summary.count
        }
    }

    /// An estimate of the memory the delivery takes, for the shares of the outbox.
    package var byteCount: Int {
        256 + key.utf8.count + contentByteCount + notice.title.utf8.count + notice.body.utf8.count
            + notice.link.utf8.count
    }

    private var contentByteCount: Int {
        switch content {
        case .event(let event): event.storage.count
        case .digest(let summary), .briefing(let summary): summary.byteCount
        }
    }
}

/// How an attempt ended.
///
/// Only the sink knows whether trying again helps; the outbox obeys.
package enum Outcome: Sendable, Equatable {
    /// The sink has it.
    case delivered
    /// Try again, not before `after` if the service asked for a time, in which the whole sink pauses.
    case retry(after: Duration?, because: String, trouble: Trouble = .away)
    /// Trying again cannot help this delivery.
    case rejected(because: String)
    /// The sink's credential or address is refused: the sink stops, and this delivery stays pending.
    case stopped(because: String)

    /// What made an attempt fail that is tried again.
    package enum Trouble: Sendable {
        /// The service could not be reached, or said that it is too early.
        case away
        /// A status 5xx or a time-out, which the delivery itself may be the cause of.
        case failed
        /// The service says that too much is sent.
        case overrun
    }
}

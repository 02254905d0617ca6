package import RelayCore

/// How a stream fetches over HTTP what it missed while it was not connected: the key `catchUp`.
package struct CatchUpConfiguration: Sendable, Equatable {
    /// In which order the server gives events.
    package enum Order: String, Sendable, CaseIterable {
        /// The oldest first, from the cursor on: each page is used as it comes.
        case oldest
        /// The newest first, back to the cursor: pages are held until it is found, then used from the oldest on.
        case newest
    }

    /// Where a page says what the next one is.
    package enum Next: Sendable, Equatable {
        /// At a pointer: a URL, a reference to one, or the text that takes the place of `{cursor}`.
        case pointer(JSONPointer)
        /// In the header field `Link` (RFC 8288), as `rel="next"`.
        case link
    }

    /// The address of the first page.
    package var url: CatchUpURL
    /// Where the array of events is in a page.
    package var events: JSONPointer
    /// In which order they are.
    package var order: Order
    /// Where the next page is named; nil if pages do not say.
    package var next: Next?
    /// The most pages of one catch-up.
    package var maxPages = 20
    /// The most events of one catch-up.
    package var maxEvents = 10_000
    /// How long a page may take.
    package var pageTimeout = Duration.seconds(15)

    /// The range of `maxPages`.
    package static let pages = 1...1000
    /// The range of `maxEvents`: at most half of the ids that a stream remembers, so that the live events that come
    /// meanwhile, and are fetched too, are still remembered at the end.
    package static let eventCount = 1...(SeenEvents.standardCapacity / 2)
    /// The most bytes of a page.
    static let mostPageBytes = 8 << 20
    /// The bytes of events from which on no further page of the order `newest` is fetched.
    static let mostHeldBytes = 32 << 20

    /// Creates a configuration with the standard limits.
    package init(url: CatchUpURL, events: JSONPointer, order: Order, next: Next? = nil) {
        self.url = url
        self.events = events
        self.order = order
        self.next = next
    }
}

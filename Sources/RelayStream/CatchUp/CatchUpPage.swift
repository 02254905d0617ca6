internal import RelayCore

/// One page of a catch-up, read.
struct CatchUpPage {
    /// Its events, in the order of the server.
    var batch: EventBatch
    /// How many elements were looked at, those that are no events included.
    var count: Int
    /// Whether it has more of them than there was room for.
    var isCut = false
    /// The address of the next page; nil if this is the last one, or pages do not say.
    var next: Secret?
}

/// A request for a page.
struct PageQuestion: Equatable {
    /// Its address.
    var address: Secret
    /// The most elements and events that are taken from it.
    var room: Int
    /// Where the catch-up began.
    var cursor: StreamCursor
}

/// Why a page cannot be used, in words that show at most a host of it.
struct PageFault: Error, Equatable {
    /// What is wrong, without a full stop.
    var reason: String

    init(_ reason: String) {
        self.reason = reason
    }
}

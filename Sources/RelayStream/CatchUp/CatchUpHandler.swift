package import GLibRuntime
package import RelayCore

/// Takes what a catch-up brings, on the main loop and without awaiting, as `StreamHandler` takes what is live.
@MainLoop
package protocol CatchUpHandler: AnyObject {
    /// A connection opened, and what came since the last event is to be fetched.
    ///
    /// Called behind `StreamHandler.opened`, before any message of the connection.
    ///
    /// - Returns: the event to begin behind; nil if there is none, and then nothing is fetched.
    func catchUpBegan() -> StreamCursor?

    /// Events that were fetched, older first: at most 256, or 256 KiB and one.
    ///
    /// They may have been seen before.
    func caughtUp(_ batch: EventBatch)

    /// All that could be fetched up to the opening of the present connection has been handed over.
    func catchUpEnded()
}

/// What one catch-up brought.
package struct CatchUpResult: Sendable, Equatable {
    /// What could not be fetched.
    package struct Gap: Sendable, Equatable {
        /// How long the time is of which events may be missing.
        package var length: Duration
        /// Why, in words.
        package var reason: String
    }

    /// How many events were handed over, those that had been seen before included.
    package var events = 0
    /// How many pages they were on.
    package var pages = 0
    /// What could not be fetched, if anything.
    package var gap: Gap?
}

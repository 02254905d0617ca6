internal import RelayCore

/// What the two orders make of a page.
extension CatchUp {
    // MARK: Oldest first

    mutating func tookOldest(_ page: CatchUpPage) -> Step {
        let before = position
        let after = StreamCursor(lastOf: page.batch) ?? before
        let move = moveBehind(page, from: before, to: after)
        return feed([page.batch], then: move)
    }

    /// Says what comes behind a page, whose last event is at `after`.
    private func moveBehind(_ page: CatchUpPage, from before: StreamCursor?, to after: StreamCursor?) -> Move {
        guard let run, let after else { return .end(nil) }
        if page.isCut { return end(Self.tooManyEvents, at: after) }
        guard let next = following(page, from: before, to: after) else { return .end(nil) }
        if run.asked.contains(next) {
            // Servers that are asked again and again for what is new name the same page until there is something.
            return page.count == 0 ? .end(nil) : end(Self.circle, at: after)
        }
        return limit(run).map { end($0, at: after) } ?? .ask(next)
    }

    /// The address of the page behind this one: the one that it names, or else what the last event asks for, until a
    /// page brings nothing new.
    private func following(_ page: CatchUpPage, from before: StreamCursor?, to after: StreamCursor) -> Secret? {
        if configuration.next != nil { return page.next }
        // Some servers begin with the event that was asked from.
        let isOld = StreamCursor(lastOf: page.batch).map { $0.identity == before?.identity } ?? (page.count == 0)
        return isOld ? nil : configuration.url.expanded(after)
    }

    /// Ends at `after`, with all missing from there to the opening of the connection.
    private func end(_ reason: String, at after: StreamCursor) -> Move {
        var there = self
        there.position = after
        return .end(there.gap(reason, to: run?.openedAt ?? after.createdAt))
    }

    // MARK: Newest first

    mutating func tookNewest(_ page: CatchUpPage) -> Step {
        guard let cursor = position, var run else { return .rest }
        var batch = page.batch
        let identity = cursor.identity
        let place = batch.records.firstIndex { $0.hasServerID && $0.identity == identity }
        if let place { batch.records.removeSubrange(place...) }
        let isPassed = !batch.records.isEmpty && batch.records.allSatisfy { $0.createdAt < cursor.createdAt }
        run.held.append(batch)
        run.heldBytes += batch.storage.count
        self.run = run
        if place != nil { return deliver(isFound: true) }
        if isPassed { return deliver() }
        if page.isCut { return deliver(because: Self.tooManyEvents) }
        guard let next = page.next, !(page.count == 0 && run.asked.contains(next)) else { return deliverAll(cursor) }
        if run.asked.contains(next) { return deliver(because: Self.circle) }
        if run.heldBytes >= CatchUpConfiguration.mostHeldBytes { return deliver(because: Self.tooManyBytes) }
        if let reason = limit(run) { return deliver(because: reason) }
        return feed([], then: .ask(next))
    }

    /// The pages have ended without the cursor's event.
    ///
    /// That is as it must be if the server was asked for what came behind it, page by page, or if it gave older ones.
    private mutating func deliverAll(_ cursor: StreamCursor) -> Step {
        let isAll = configuration.url.asksByCursor && (configuration.next != nil || run?.count == 0)
        let last = run?.held.last { !$0.records.isEmpty }?.records.last
        if isAll || (last.map { $0.createdAt < cursor.createdAt } ?? false) { return deliver() }
        return deliver(because: Self.noCursor)
    }

    /// Hands over what is held, from the oldest on; `reason` says why it does not reach back to the cursor.
    mutating func deliver(because reason: String? = nil, isFound: Bool = false) -> Step {
        guard var batches = run?.held, let cursor = position, let openedAt = run?.openedAt else { return .rest }
        run?.held = []
        if !isFound { Self.drop(olderThan: cursor.createdAt, from: &batches) }
        let oldest = batches.last { !$0.records.isEmpty }?.records.last?.createdAt
        let gap = reason.map { self.gap($0, to: oldest ?? openedAt) }
        batches.reverse()
        for index in batches.indices { batches[index].records.reverse() }
        return feed(batches, then: .end(gap))
    }

    /// Removes the events at the end that are older than the cursor: where its own one is not found, as it was deleted,
    /// these are from the time before, and maybe from before the stream was ever read.
    private static func drop(olderThan time: Instant, from batches: inout [EventBatch]) {
        for index in batches.indices.reversed() {
            while let last = batches[index].records.last, last.createdAt < time { batches[index].records.removeLast() }
            if !batches[index].records.isEmpty { return }
        }
    }

    // MARK: Limits

    /// Returns the limit that forbids another page, or nil.
    private func limit(_ run: Run) -> String? {
        if run.pages >= configuration.maxPages {
            return "there are more than \(configuration.maxPages) pages (maxPages)"
        }
        return run.count >= configuration.maxEvents ? Self.tooManyEvents : nil
    }

    private static let tooManyEvents = "there are more events than \"maxEvents\" allows"
    private static let tooManyBytes = "there are more than 32 MiB of events"
    private static let circle = "the server names a page as the next one that it gave before"
    private static let noCursor = "the server no longer has the last event of before"
}

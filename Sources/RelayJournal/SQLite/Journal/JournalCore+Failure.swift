internal import RelayCore

extension JournalCore {
    /// Does what must be stored or not happen at all.
    ///
    /// - Throws: `JournalFailure` when nothing of it happened, in memory or on disk.
    func change<Result>(
        _ durability: Durability, at now: Moment, _ body: (inout Additions) throws(JournalFailure) -> Result
    ) throws(JournalFailure) -> Result {
        try makeReady(at: now)
        let former = writes
        var additions = Additions()
        do throws(JournalFailure) {
            let result = try body(&additions)
            try commitOrFail(durability, additions, at: now)
            return result
        } catch {
            writes = former
            reload(at: now)
            throw error
        }
    }

    private func commitOrFail(
        _ durability: Durability, _ additions: Additions, at now: Moment
    ) throws(JournalFailure) {
        do throws(DatabaseFault) {
            try commit(durability, additions, at: now)
            trouble = .nothing
        } catch {
            note(error)
            throw failure(error)
        }
    }

    /// Writes what happened already, such as a settlement; what the disk does not take is written with the next commit.
    func keep(at now: Moment) {
        do throws(DatabaseFault) {
            try commit(.normal, at: now)
        } catch {
            note(error)
            // With the room of the ballast it may go.
            guard error.kind == .full, (try? commit(.normal, at: now)) == nil else { return }
        }
    }

    // MARK: Trouble

    /// Finds out, cheaply, whether a commit makes sense.
    private func makeReady(at now: Moment) throws(JournalFailure) {
        if isStale { try reloadOrFail(at: now) }
        switch trouble {
        case .nothing: return
        case .full:
            // What the ballast gave is for settlements.
            guard options.ballast == 0 || ballast.restore() else { throw .full("no room for \(database.path)") }
            try probe()
        case .failing: try probe()
        }
    }

    /// Writes next to nothing.
    private func probe() throws(JournalFailure) {
        do throws(DatabaseFault) {
            try Schema.setMeta("probe", database) { $0.bind(0) }
        } catch {
            note(error)
            throw failure(error)
        }
    }

    /// Remembers what a commit failed with, and gives the ballast back if room helps.
    func note(_ fault: DatabaseFault) {
        trouble = fault.kind == .full ? .full : .failing
        if fault.kind == .full { _ = ballast.release() }
    }

    func failure(_ fault: DatabaseFault) -> JournalFailure {
        fault.kind == .full
            ? .full("no room for \(database.path) (\(fault.description))")
            : .unavailable("\(database.path): \(fault.description)")
    }

    private func reload(at now: Moment) {
        do throws(DatabaseFault) {
            try load(at: now)
        } catch {
            // It is read before anything else happens.
            trouble = .failing
        }
    }

    private func reloadOrFail(at now: Moment) throws(JournalFailure) {
        do throws(DatabaseFault) {
            try load(at: now)
        } catch {
            throw failure(error)
        }
    }
}

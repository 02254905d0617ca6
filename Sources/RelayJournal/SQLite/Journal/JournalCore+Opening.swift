internal import RelayCore

extension JournalCore {
    /// Opens the journal of a folder.
    static func open(
        _ options: JournalOptions, plan: EffectPlan, limits: OutboxShare.Limits, bounds: LedgerBounds,
        policy: HistoryPolicy, at now: Moment
    ) throws(DatabaseFault) -> (core: JournalCore, notes: [JournalNote]) {
        let file = JournalFile(folder: options.folder, program: options.program, vfs: options.vfs)
        let opened = try file.open(at: now.wall)
        let core = try JournalCore(
            opened.database, options, plan: plan, limits: limits, bounds: bounds, policy: policy, at: now)
        var notes: [JournalNote] = []
        if let damage = opened.damage { notes.append(.damaged(damage)) }
        if let note = core.lostEnd, opened.damage == nil { notes.append(note) }
        if core.damagedRows > 0 { notes.append(.damagedRows(core.damagedRows)) }
        if options.ballast > 0, !core.ballast.isHeld { notes.append(.noBallast) }
        if core.isPlanFormer {
            // If the disk takes nothing now, it is tried again before anything is accepted.
            do throws(JournalFailure) { try core.adopt(plan, at: now) } catch { return (core, notes) }
        }
        return (core, notes)
    }

    /// What the mark beside the file has more than the file.
    private var lostEnd: JournalNote? {
        guard let mark = markFile.mark else { return nil }
        let event = policy.isOff ? mark.event : found.event
        let serial = found.serial
        guard mark.seen > found.seen || mark.event > event || mark.serial > serial else { return nil }
        return .lostEnd(
            events: mark.event > event ? mark.event - event : 0,
            serials: mark.serial > serial ? mark.serial - serial : 0,
            commits: mark.seen > found.seen ? mark.seen - found.seen : 0)
    }

    /// Writes what is not written yet, and copies the log into the database.
    func close() {
        keep(at: lastMoment)
        // What cannot be copied now is copied at the next start.
        try? database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    }
}

package import RelayCore

extension Ledger {
    /// Takes what changed since it was last taken, or since the ledger was made: nothing unless it records changes.
    ///
    /// A disk that had all changes so far and writes these is as the ledger. Changes that could not be written are lost
    /// with the ledger: it is made again from what the disk has.
    package mutating func takeChanges() -> LedgerChanges {
        var changes = LedgerChanges()
        guard let taken = notes else { return changes }
        changes.limits = limits.takeChanges()
        changes.repeats = repeats.takeChanges()
        groups.takeChanges(&changes)
        briefings.takeChanges(&changes)
        changes.receipts = receiptTable.takeChanges()
        changes.sinks = accounts.takeChanges()
        if taken.hasNewPlan { changes.plan = PlanRow(plan) }
        if taken.hasNewSilences { changes.silences = silenceRows }
        if taken.totals != totals { changes.totals = totals }
        changes.closings = taken.closings
        notes = LedgerNotes(totals: totals)
        return changes
    }

    /// All of the ledger, as a disk that had all of its changes keeps it.
    package var image: LedgerImage {
        var image = LedgerImage()
        image.plan = PlanRow(plan)
        image.limits = limits.rows
        image.repeats = repeats.rows
        (image.groups, image.items) = groups.rows
        let (briefings, items) = briefings.rows
        image.briefings = briefings
        image.items += items
        image.silences = silenceRows
        image.receipts = receipts
        image.sinks = accounts.rows
        image.totals = totals
        return image
    }

    /// Makes the ledger of a former process again, as it was when `image` was written.
    ///
    /// A deadline further off than its own length is cut to that length, and a charge in the future counts as made now,
    /// since the clock may have been set back in between. The ledger goes on by the policies and times of the plan in
    /// the image; `plan` only renders its notices. If they are not the same, `adopt` must follow before anything is
    /// accepted: what the new plan has no place for closes then, as at a reload.
    package init(
        plan: EffectPlan, bounds: LedgerBounds = LedgerBounds(), image: LedgerImage, at now: Moment,
        recordsChanges: Bool = false
    ) {
        self.init(
            plan: image.plan.map { plan.rendering($0) } ?? plan, bounds: bounds, recordsChanges: recordsChanges)
        let items = Dictionary(grouping: image.items, by: \.serial)
        limits.restore(image.limits, at: now.relay)
        repeats.restore(image.repeats, forgotten: image.totals.overflows.repeatKeys, at: now.relay)
        groups.restore(image.groups, items: items, at: now)
        briefings.restore(image.briefings, items: items)
        book = SilenceBook(image.silences.silences, lastID: image.silences.lastID)
        receiptTable.restore(image.receipts)
        accounts.restore(image.sinks)
        overflow.groups = image.totals.overflows.groups.asCount
        overflow.limitKeys = image.totals.overflows.limitKeys.asCount
        let serials = image.groups.map(\.serial) + image.briefings.map(\.serial)
        lastSerial = serials.reduce(image.totals.lastSerial, max)
        notes?.hasNewPlan = image.plan == nil
        notes?.totals = image.totals
    }

    private var totals: LedgerTotals { LedgerTotals(lastSerial: lastSerial, overflows: overflows) }

    private var silenceRows: SilenceRows { SilenceRows(silences: book.silences, lastID: book.lastID) }
}

extension PlanRow {
    /// Creates the row of a plan.
    package init(_ plan: EffectPlan) {
        self.init(policies: plan.policies, sinkNames: plan.sinkNames, times: plan.times)
    }
}

extension EffectPlan {
    /// Returns a former plan, whose notices read as those of this one.
    fileprivate func rendering(_ former: PlanRow) -> EffectPlan {
        if former == PlanRow(self) { return self }
        return EffectPlan(
            policies: former.policies, sinkNames: former.sinkNames, times: former.times,
            renderer: FormerRenderer(of: former.policies, by: self))
    }
}

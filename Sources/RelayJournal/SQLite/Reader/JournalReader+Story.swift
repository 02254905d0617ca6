internal import RelayCore

extension JournalReader {
    /// The most steps from one serial to the next: a group, a briefing, and deliveries folded again and again.
    static let mostSteps = 16

    /// Follows an effect to where it ended, or where it is.
    func story(of effect: RecordedEffect) throws(DatabaseFault) -> EffectStory {
        var story = EffectStory(rule: effect.rule, sink: effect.sink, fate: .forgotten)
        switch effect.path {
        case .passed: story.fate = .passed
        case .receipt(let receipt): story.fate = .receipt(receipt)
        case .outboxFull: story.fate = .outboxFull
        case .delivery(let serial): story.fate = try fate(ofDelivery: serial)
        case .group(let serial): try follow(serial, isBriefing: false, &story)
        case .briefing(let serial): try follow(serial, isBriefing: true, &story)
        }
        return story
    }

    private func follow(_ first: UInt64, isBriefing: Bool, _ story: inout EffectStory) throws(DatabaseFault) {
        var (serial, isBriefing) = (first, isBriefing)
        for _ in 0..<Self.mostSteps {
            story.gathered.append(EffectStory.Gathered(serial: serial, isBriefing: isBriefing, closedAt: nil))
            guard let closing = try closing(of: serial) else {
                story.fate = try isOpen(serial) ? .open : .forgotten
                return
            }
            story.gathered[story.gathered.count - 1].closedAt = closing.at
            switch closing.fate {
            case .delivery(let delivery): return story.fate = try fate(ofDelivery: delivery)
            case .briefing(let briefing): (serial, isBriefing) = (briefing, true)
            case .receipt(let receipt): return story.fate = .receipt(receipt)
            case .outboxFull: return story.fate = .outboxFull
            }
        }
    }

    /// What became of a closed group or briefing, and when it closed; nil if that is not known.
    func closing(of serial: UInt64) throws(DatabaseFault) -> (fate: ClosingRow.Fate, at: Instant)? {
        let row = try database.first("SELECT fate, closed_at FROM closing WHERE serial = ?") {
            $0.bind(serial)
        } _: {
            ($0.bytes(0), Instant(milliseconds: $0.int(1)))
        }
        guard let (bytes, at) = row, let fate = try? RowReader.decode(ClosingRow.Fate.self, bytes) else { return nil }
        return (fate, at)
    }

    /// Whether a group or briefing is open.
    func isOpen(_ serial: UInt64) throws(DatabaseFault) -> Bool {
        let sql = """
            SELECT 1 FROM gathering WHERE serial = ?1 UNION ALL SELECT 1 FROM briefing WHERE serial = ?1
            """
        return try database.number(sql) { $0.bind(serial) } != nil
    }

    private func fate(ofDelivery first: UInt64) throws(DatabaseFault) -> EffectStory.Fate {
        var serial = first
        var folded: [UInt64] = []
        for _ in 0..<Self.mostSteps {
            let found = try database.first("SELECT \(OutboxStore.columns) FROM delivery WHERE serial = ?") {
                $0.bind(serial)
            } _: {
                OutboxStore.read($0)
            }
            guard let stored = found ?? nil else { return .forgotten }
            guard case .ended(.folded(let next), _) = stored.row.state else {
                return .delivery(DeliveryStory(sink: stored.sink, row: stored.row, folded: folded))
            }
            folded.append(serial)
            serial = next
        }
        return .forgotten
    }
}

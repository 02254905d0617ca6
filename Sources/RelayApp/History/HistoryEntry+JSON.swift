internal import RelayCore
internal import RelayJournal

/// A recorded event as one JSON object.
extension HistoryEntry {
    var json: JSONValue {
        .object([
            ("type", "event"), ("number", shownNumber), ("id", text(\.id)),
            ("stream", .optional(event?.stream)), ("kind", text(\.kind)), ("actor", text(\.actor)),
            ("post", text(\.post)), ("text", text(\.text)), ("createdAt", .time(event?.record.createdAt)),
            ("receivedAt", .time(receivedAt)), ("effects", .array(effects.map(\.json))),
        ])
    }

    /// Its number; null for one that was not recorded.
    var shownNumber: JSONValue { number == 0 ? .null : .number(Int(clamping: number)) }

    private func text(_ field: KeyPath<EventRecord, TextRange>) -> JSONValue {
        .optional(event.flatMap { $0.text(of: $0.record[keyPath: field])?.string })
    }
}

extension EffectStory {
    fileprivate var json: JSONValue {
        var (receipt, delivery): (JSONValue, JSONValue) = (.null, .null)
        switch fate {
        case .receipt(let given): receipt = .string(given.rawValue)
        case .delivery(let story): delivery = story.json
        case .passed, .outboxFull, .open, .forgotten: break
        }
        let isFull = if case .outboxFull = fate { true } else { false }
        return .object([
            ("rule", .string(rule)), ("sink", .string(sink)), ("outcome", .string(outcome.rawValue)),
            ("receipt", receipt), ("outboxFull", .bool(isFull)), ("gathered", .array(gathered.map(\.json))),
            ("delivery", delivery),
        ])
    }
}

extension EffectStory.Gathered {
    fileprivate var json: JSONValue {
        .object([
            ("type", .string(isBriefing ? "briefing" : "digest")), ("serial", .number(Int(clamping: serial))),
            ("closedAt", .time(closedAt)),
        ])
    }
}

extension DeliveryStory {
    fileprivate var json: JSONValue {
        var (due, died, delivered): (Instant?, Instant?, Instant?) = (nil, nil, nil)
        switch row.state {
        case .waiting(let until): due = until
        case .dead(let at), .ended(.forgotten, let at): died = at
        case .ended(.delivered, let at): delivered = at
        case .due, .claimed, .ended(.folded, _): break
        }
        return .object([
            ("id", .number(Int(clamping: row.serial))), ("state", .string(stateWord)), ("key", .string(row.key)),
            ("effects", .number(row.effects)), ("acceptedAt", .time(row.acceptedAt)), ("dueAt", .time(due)),
            ("deliveredAt", .time(delivered)), ("diedAt", .time(died)), ("attempts", .number(row.attempts)),
            ("error", .optional(row.lastError)), ("folded", .array(folded.map { .number(Int(clamping: $0)) })),
        ])
    }

    /// Where it stands, in the words of `outbox list` as long as it is there.
    private var stateWord: String {
        switch row.state {
        case .due: "due"
        case .waiting: row.isAside ? "aside" : "waiting"
        case .claimed: "claimed"
        case .dead: "dead"
        case .ended(.delivered, _): "delivered"
        case .ended(.folded, _): "folded"
        case .ended(.forgotten, _): "deleted"
        }
    }
}

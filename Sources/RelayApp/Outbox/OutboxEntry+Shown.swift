internal import GLibRuntime
internal import RelayCore
internal import RelaySinks

extension OutboxEntry {
    /// Where it stands, in one word.
    var stateWord: String {
        switch state {
        case .due: "due"
        case .waiting: isAside ? "aside" : "waiting"
        case .claimed: "claimed"
        case .dead: "dead"
        }
    }

    /// What it tells of, for a line of a table.
    var subject: String {
        let title = Shown.printable(delivery.notice.title.string)
        return switch delivery.content {
        case .event: title
        case .digest(let summary), .briefing(let summary): "\(title) (\(summary.count) events)"
        }
    }

    /// The entry as one JSON object.
    var json: JSONValue {
        var (due, died): (Instant?, Instant?) = (nil, nil)
        switch state {
        case .waiting(let until): due = until
        case .dead(let at): died = at
        case .due, .claimed: break
        }
        var notice: [UInt8] = []
        NoticeLine.append(delivery, to: &notice)
        return .object([
            ("id", .number(Int(clamping: serial))), ("sink", .string(delivery.sink)),
            ("rule", .string(delivery.notice.rule)), ("state", .string(stateWord)), ("acceptedAt", .time(acceptedAt)),
            ("dueAt", .time(due)), ("diedAt", .time(died)), ("attempts", .number(attempts)),
            ("error", .optional(lastError)), ("key", .string(delivery.key)), ("notice", .written(notice)),
        ])
    }

    /// The entry as `outbox show` prints it.
    func page(at now: Instant) -> String {
        var rows = [
            ("id", String(serial)), ("sink", delivery.sink), ("rule", delivery.notice.rule),
            ("state", stateSentence(now)),
            ("accepted", LocalTime.shown(acceptedAt)), ("attempts", String(attempts)),
        ]
        if let lastError { rows.append(("error", lastError)) }
        rows += [("key", delivery.key), ("title", delivery.notice.title.string)]
        if !delivery.notice.body.isEmpty { rows.append(("body", delivery.notice.body.string)) }
        if !delivery.notice.link.isEmpty { rows.append(("link", delivery.notice.link.string)) }
        return rows.map { "\(($0.0 + ":").padded(to: 10)) \(Shown.printable($0.1))" }.joined(separator: "\n")
    }

    private func stateSentence(_ now: Instant) -> String {
        switch state {
        case .due: "due: it goes out as soon as the sink takes it"
        case .waiting(let until):
            until <= now
                ? "due again"
                : "waits for its next attempt, in \(DurationText.rough(until - now))"
                    + (isAside ? "; others go past it" : "")
        case .claimed: "is being attempted"
        case .dead(let at): "dead since \(LocalTime.shown(at))"
        }
    }
}

internal import GLibRuntime
internal import RelayCore

extension ControlAnswers {
    /// Sends deliveries again (`outbox.retry`), or drops them (`outbox.drop`).
    func changeOutbox(_ action: String, _ reader: ObjectReader) async -> JSONValue {
        var reader = reader
        let problems = reader.problems
        let selection = Self.selection(&reader)
        let to = action == "outbox.retry" ? Self.text("to", &reader) : nil
        reader.finish()
        guard !problems.hasErrors else { return Self.failure(problems) }
        if let to, !relay.sinks.names.contains(to) {
            let suggestion = NearestName.suggestion(for: to, among: relay.sinks.names)
            return ControlConnection.failure("there is no sink \(Shown.quoted(to))\(suggestion)")
        }
        let now = relay.parts.clock.now()
        do throws(JournalFailure) {
            let count =
                action == "outbox.drop"
                ? try await relay.journal.drop(selection, at: now)
                : try await relay.journal.retry(selection, to: to, at: now)
            if action == "outbox.retry", to == nil { await relay.sinks.startAgain(selection.sink) }
            let word = action == "outbox.drop" ? "deliveries were dropped" : "deliveries are sent again"
            relay.parts.log(.info, "control", word, [("count", String(count))] + (to.map { [("to", $0)] } ?? []))
            return .object([("ok", true), ("count", .number(count))])
        } catch {
            return ControlConnection.failure(error.description)
        }
    }

    private static func selection(_ reader: inout ObjectReader) -> OutboxSelection {
        let problems = reader.problems
        var selection = OutboxSelection(sink: text("sink", &reader))
        if let ids = reader.optional("ids") {
            selection.serials = Set(ids.list.compactMap { $0.integer(problems, in: 1...Int.max).map { UInt64($0) } })
        }
        if let node = reader.optional("acceptedBy"), let text = node.string(problems) {
            selection.acceptedBy = TimestampText.parse(text.utf8Span.span.bytes)
            if selection.acceptedBy == nil { problems.add(at: node, "expected a time in RFC 3339") }
        }
        selection.isDead = reader.optional("dead")?.bool(problems)
        return selection
    }
}

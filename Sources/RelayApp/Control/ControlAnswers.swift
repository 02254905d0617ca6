internal import GLibRuntime
internal import RelayCore
internal import RelayRules

/// What a running relay answers to the requests of commands.
///
/// A request is an object with `request` and what belongs to it; an answer has `ok`, and `error` if that is false.
@MainLoop
final class ControlAnswers {
    unowned let relay: Relay

    /// The longest text of a silence's matcher, in bytes; far more than any name.
    private static let longestText = 1024
    /// The longest time of a silence that is given as a duration.
    private static let longestSilence = Duration.seconds(366 * 86_400)

    /// Creates the answers of a relay.
    init(_ relay: Relay) {
        self.relay = relay
    }

    /// Answers one request.
    func answer(to line: [UInt8]) async -> JSONValue {
        let problems = Problems()
        guard let node = ConfigurationParser.parse(line, problems: problems), var reader = ObjectReader(node, problems),
            let request = reader.required("request"), let name = request.string(problems)
        else { return Self.failure(problems) }
        switch name {
        case "silence.add": return await addSilence(reader)
        case "silence.remove": return await removeSilence(reader)
        case "silence.list":
            reader.finish()
            return problems.hasErrors ? Self.failure(problems) : await listSilences()
        case "outbox.retry", "outbox.drop": return await changeOutbox(name, reader)
        case "status":
            reader.finish()
            return problems.hasErrors ? Self.failure(problems) : await StatusAnswer(relay).value()
        default: return ControlConnection.failure("unknown request \(Shown.quoted(name))")
        }
    }

    static func failure(_ problems: Problems) -> JSONValue {
        let sentences = problems.sorted.prefix(5).map { $0.path.isEmpty ? $0.message : "\($0.path): \($0.message)" }
        return ControlConnection.failure(sentences.joined(separator: "; "))
    }

    // MARK: Silences

    private func addSilence(_ reader: ObjectReader) async -> JSONValue {
        var reader = reader
        let problems = reader.problems
        var matcher = Silence.Matcher()
        matcher.kind = Self.text("kind", &reader)
        matcher.actor = Self.text("actor", &reader)
        matcher.post = Self.text("post", &reader)
        matcher.rule = Self.text("rule", &reader)
        matcher.sink = Self.text("sink", &reader)
        matcher.stream = Self.text("stream", &reader)
        let now = relay.parts.clock.moment()
        let until = Self.end(&reader, now.wall)
        reader.finish()
        guard !problems.hasErrors, let until else { return Self.failure(problems) }
        do throws(SilenceFault) {
            let silence = try await relay.journal.addSilence(matcher, until: until, at: now)
            await relay.silencesChanged()
            relay.parts.log(
                .info, "control", "a silence was added",
                [("id", String(silence.id)), ("what", silence.matcher.shown), ("until", TimestampText.format(until))])
            return .object([
                ("ok", true), ("silence", silence.json),
                ("warnings", .array(warnings(of: matcher).map { .string($0) })),
            ])
        } catch {
            return ControlConnection.failure(error.description)
        }
    }

    static func text(_ key: String, _ reader: inout ObjectReader) -> String? {
        guard let node = reader.optional(key), let text = node.string(reader.problems) else { return nil }
        guard (1...longestText).contains(text.utf8.count) else {
            reader.problems.add(at: node, "a text has 1 to \(longestText) bytes")
            return nil
        }
        return text
    }

    /// The end of a silence: `for` a duration, or `until` an instant in RFC 3339.
    private static func end(_ reader: inout ObjectReader, _ now: Instant) -> Instant? {
        let (duration, until) = (reader.optional("for"), reader.optional("until"))
        let problems = reader.problems
        switch (duration, until) {
        case (let duration?, nil):
            return duration.duration(problems, in: .seconds(1)...longestSilence).map { now + $0 }
        case (nil, let until?):
            guard let text = until.string(problems) else { return nil }
            guard let instant = TimestampText.parse(text.utf8Span.span.bytes) else {
                problems.add(at: until, "expected a time in RFC 3339")
                return nil
            }
            return instant
        default:
            problems.add(at: reader.node, "a silence has exactly one of \"for\" and \"until\"")
            return nil
        }
    }

    /// What the rules file has not, so that the silence cannot mean it.
    private func warnings(of matcher: Silence.Matcher) -> [String] {
        let rules = relay.configuration.rules.rules.map(\.name)
        return [
            ("rule", matcher.rule, rules), ("sink", matcher.sink, relay.sinks.names),
            ("stream", matcher.stream, relay.streams.names),
        ].compactMap { what, name, names in
            guard let name, !names.contains(name) else { return nil }
            return "there is no \(what) \(Shown.quoted(name))\(NearestName.suggestion(for: name, among: names))"
        }
    }

    private func removeSilence(_ reader: ObjectReader) async -> JSONValue {
        var reader = reader
        let problems = reader.problems
        let all = reader.bool("all", default: false)
        let id = reader.optional("id")?.integer(problems, in: 1...Int.max).map { UInt64($0) }
        if all == (id != nil) { problems.add(at: reader.node, "give exactly one of \"id\" and \"all\": true") }
        reader.finish()
        guard !problems.hasErrors else { return Self.failure(problems) }
        let now = relay.parts.clock.moment()
        let ids = if let id { [id] } else { await relay.journal.silences(at: now).map(\.id) }
        var removed = 0
        for id in ids where await relay.journal.removeSilence(id, at: now) { removed += 1 }
        await relay.silencesChanged()
        if let id, removed == 0 { return ControlConnection.failure("there is no silence \(id)") }
        relay.parts.log(
            .info, "control", "silences were removed",
            [("count", String(removed))] + (id.map { [("id", String($0))] } ?? []))
        return .object([("ok", true), ("removed", .number(removed))])
    }

    private func listSilences() async -> JSONValue {
        let silences = await relay.journal.silences(at: relay.parts.clock.moment())
        return .object([("ok", true), ("silences", .array(silences.map(\.json)))])
    }
}

extension Silence {
    /// The silence as commands get it; what it does not ask for is left out.
    var json: JSONValue {
        let asked = matcher.members.map { (name: $0.name, value: JSONValue.string($0.value)) }
        return .object(
            [("id", .number(Int(clamping: id)))] + asked + [("until", .time(until))])
    }
}

extension Silence.Matcher {
    /// What it asks for, by name.
    var members: [(name: String, value: String)] {
        let all = [
            ("kind", kind), ("actor", actor), ("post", post), ("rule", rule), ("sink", sink), ("stream", stream),
        ]
        return all.compactMap { name, value in value.map { (name, $0) } }
    }

    /// What it asks for, for people: `kind like, post 7`.
    var shown: String { members.map { "\($0.name) \($0.value)" }.joined(separator: ", ") }
}

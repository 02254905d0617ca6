internal import GLibRuntime
internal import RelayCore
internal import RelayRules
internal import RelayStream

/// What the requests of commands ask of a journal, that of a running relay or one that no relay has.
@MainLoop
final class JournalAnswers {
    private let journal: any Journal
    private let clock: any RelayClock
    private let log: Log
    private let configuration: @MainLoop () -> RelayConfiguration
    private let silencesChanged: @MainLoop () async -> Void
    private let recentEvents: @MainLoop (_ id: String, _ stream: String?) -> [StoryPage]
    private let startSinks: @MainLoop (String?) async -> Void

    /// The longest text of a silence's matcher, in bytes; far more than any name.
    private static let longestText = 1024
    /// The longest time of a silence that is given as a duration.
    private static let longestSilence = Duration.seconds(366 * 86_400)

    /// Creates the answers of a journal, by what the rules file in force says.
    ///
    /// `silencesChanged` is told after a silence came or went; `recentEvents` finds events that were not recorded by
    /// their id, in one stream or all; `startSinks` starts the sinks that have stopped, or the one
    /// with that name.
    init(
        _ journal: any Journal, clock: any RelayClock, log: Log,
        configuration: @escaping @MainLoop () -> RelayConfiguration,
        silencesChanged: @escaping @MainLoop () async -> Void = {},
        recentEvents: @escaping @MainLoop (_ id: String, _ stream: String?) -> [StoryPage] = { _, _ in [] },
        startSinks: @escaping @MainLoop (String?) async -> Void = { _ in }
    ) {
        self.journal = journal
        self.clock = clock
        self.log = log
        self.configuration = configuration
        self.silencesChanged = silencesChanged
        self.recentEvents = recentEvents
        self.startSinks = startSinks
    }

    /// Answers one request; nil if it asks for the status, which is no matter of the journal alone.
    func answer(to line: [UInt8]) async -> JSONValue? {
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
        case "explain": return explain(reader)
        case "status":
            reader.finish()
            return problems.hasErrors ? Self.failure(problems) : nil
        default: return ControlConnection.failure("unknown request \(Shown.quoted(name))")
        }
    }

    private static func failure(_ problems: Problems) -> JSONValue {
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
        let now = clock.moment()
        let until = Self.end(&reader, now.wall)
        reader.finish()
        guard !problems.hasErrors, let until else { return Self.failure(problems) }
        do throws(SilenceFault) {
            let silence = try await journal.addSilence(matcher, until: until, at: now)
            await silencesChanged()
            log(
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

    private static func text(_ key: String, _ reader: inout ObjectReader) -> String? {
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
        let configuration = configuration()
        let rules = configuration.rules.rules.map(\.name)
        return [
            ("rule", matcher.rule, rules), ("sink", matcher.sink, configuration.sinks.map(\.name)),
            ("stream", matcher.stream, configuration.streams.map(\.connection.name)),
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
        let now = clock.moment()
        let ids = if let id { [id] } else { await journal.silences(at: now).map(\.id) }
        var removed = 0
        for id in ids where await journal.removeSilence(id, at: now) { removed += 1 }
        await silencesChanged()
        if let id, removed == 0 { return ControlConnection.failure("there is no silence \(id)") }
        log(
            .info, "control", "silences were removed",
            [("count", String(removed))] + (id.map { [("id", String($0))] } ?? []))
        return .object([("ok", true), ("removed", .number(removed))])
    }

    private func listSilences() async -> JSONValue {
        let silences = await journal.silences(at: clock.moment())
        return .object([("ok", true), ("silences", .array(silences.map(\.json)))])
    }

    // MARK: Events

    private func explain(_ reader: ObjectReader) -> JSONValue {
        var reader = reader
        let problems = reader.problems
        let id = reader.required("id")?.string(problems)
        let stream = reader.optional("stream")?.string(problems)
        reader.finish()
        guard !problems.hasErrors, let id else { return Self.failure(problems) }
        return .object([("ok", true), ("events", .array(recentEvents(id, stream).map(\.answer)))])
    }

    // MARK: Outbox

    /// Sends deliveries again (`outbox.retry`), or drops them (`outbox.drop`).
    private func changeOutbox(_ action: String, _ reader: ObjectReader) async -> JSONValue {
        var reader = reader
        let problems = reader.problems
        let selection = Self.selection(&reader)
        let to = action == "outbox.retry" ? Self.text("to", &reader) : nil
        reader.finish()
        guard !problems.hasErrors else { return Self.failure(problems) }
        let sinks = configuration().sinks.map(\.name)
        if let to, !sinks.contains(to) {
            let suggestion = NearestName.suggestion(for: to, among: sinks)
            return ControlConnection.failure("there is no sink \(Shown.quoted(to))\(suggestion)")
        }
        let now = clock.now()
        do throws(JournalFailure) {
            let count =
                action == "outbox.drop"
                ? try await journal.drop(selection, at: now)
                : try await journal.retry(selection, to: to, at: now)
            if action == "outbox.retry", to == nil { await startSinks(selection.sink) }
            let word = action == "outbox.drop" ? "deliveries were dropped" : "deliveries are sent again"
            log(.info, "control", word, [("count", String(count))] + (to.map { [("to", $0)] } ?? []))
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

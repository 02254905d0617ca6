import GLibRuntime
import RelayCore
import RelayJournal
import RelayRules
import RelayTestKit
import Testing

@testable import RelayApp

/// A relay without streams and sinks: real rules and a real journal on disk, at times of the test's choosing.
@MainLoop
final class RecordedRelay {
    /// The state directory.
    let state: String
    private let folder: TemporaryFolder
    private let configuration: RelayConfiguration
    private let journal: SQLiteJournal
    private let source: EventSource
    private var current: Instant
    private var nextDeadline = Instant.distantFuture

    /// Opens the journal in `state` below a folder.
    init(
        _ rules: String, in folder: TemporaryFolder, history: HistoryPolicy = HistoryPolicy(),
        at time: Instant = RecordedRelay.noon
    ) async throws {
        let problems = Problems()
        let configuration = try #require(
            RelayConfiguration.read(Array(rules.utf8), problems: problems), "\(problems.lines(file: "rules"))")
        self.folder = folder
        self.configuration = configuration
        state = folder.path + "/state"
        current = time
        try StateFolder.prepare(state)
        journal = try await SQLiteJournal.open(
            JournalOptions(folder: state, program: "test", ballast: 0), plan: configuration.rules.plan,
            history: history, at: Moment(time)
        ).journal
        source = EventSource(configuration.streams)
    }

    /// Noon on 28 March 2026, in UTC.
    static let noon = Instant(milliseconds: 1_774_699_200_000)

    /// So many minutes after noon.
    static func minute(_ minutes: Double) -> Instant { noon + .seconds(minutes * 60) }

    /// Receives events as a server sends them, each at the time at which it was made; those of which nothing touches the
    /// journal are not recorded.
    func receive(_ json: String) async throws {
        for event in events(json) { try await receive(event, recordsAll: false) }
    }

    /// Receives events that are recorded whatever becomes of them.
    func recordAll(_ json: String) async throws {
        for event in events(json) { try await receive(event, recordsAll: true) }
    }

    private func receive(_ event: Event, recordsAll: Bool) async throws {
        try await advance(to: event.record.createdAt)
        var effects: [Effect] = []
        configuration.rules.decide(event, at: current, into: &effects)
        let intake = Intake(event: event, effects: effects.filter(isKept), passed: effects.filter { !isKept($0) })
        let intakes = recordsAll || !intake.effects.isEmpty ? [intake] : []
        let progress = StreamProgress(
            stream: event.stream, seen: [event.record.identity], unrecorded: 1 - intakes.count)
        _ = try await journal.accept(intakes, progress: [progress], at: Moment(current))
        try await note()
    }

    private func isKept(_ effect: Effect) -> Bool {
        guard effect.action == .deliver, configuration.sinks.indices.contains(effect.sink) else { return false }
        if configuration.rules.plan.policies[effect.rule].isStateful { return true }
        if case .stdout = configuration.sinks[effect.sink].kind { return configuration.sinks[effect.sink].isDurable }
        return true
    }

    private func events(_ json: String) -> [Event] {
        var events: [Event] = []
        for line in json.split(separator: "\n") {
            source.read(Array(line.utf8), line: 1, now: current, complain: { _ in }) { found in
                if !found.isRepeated { events.append(found.event.compacted()) }
            }
        }
        return events
    }

    /// Lets time pass, and what is due on the way happen.
    func advance(to time: Instant) async throws {
        while nextDeadline <= time {
            current = max(current, nextDeadline)
            try await note()
        }
        current = max(current, time)
    }

    /// Lets time pass until nothing is open.
    func runOn() async throws {
        while nextDeadline < .distantFuture { try await advance(to: nextDeadline) }
    }

    private func note() async throws {
        let deadlines = try await journal.advance(to: Moment(current))
        nextDeadline = deadlines.reduce(.distantFuture) { earliest, deadline in
            switch deadline {
            case .relay(let instant), .wall(let instant): min(earliest, instant)
            }
        }
    }

    /// Attempts what is due for a sink, all with one settlement.
    func attempt(_ sink: String = "team", _ settlement: Settlement = .delivered, backlog: BacklogPolicy? = nil) async {
        let request = ClaimRequest(sink: sink, upTo: 1000, lease: .seconds(60), backlog: backlog)
        let claims = await journal.claim(request, at: current).claims
        await journal.settle(claims.map { SettledClaim($0, settlement) }, at: current)
    }

    /// Mutes a kind.
    func silence(kind: String) async throws {
        let matcher = Silence.Matcher(kind: kind)
        _ = try await journal.addSilence(matcher, until: .distantFuture, at: Moment(current))
    }

    /// Closes the journal, as the end of a relay does.
    func close() async {
        await journal.close()
    }
}

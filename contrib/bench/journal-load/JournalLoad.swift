import GLibRuntime
import Glibc
import RelayCore
import RelayJournal

/// Puts events into a journal on disk as fast as it takes them, delivers them, and tells how that goes on.
///
/// Called as `journal-load FOLDER EVENTS WAITING`: each commit takes WAITING events, which is what a relay does that has
/// so many waiting. The journal is set up as a relay's is, with a history of seven days or 200 MB.
@main
struct JournalLoad {
    /// A second of the journal has so many events; for seven days of history, which its size ends long before.
    private static let eventsPerSecond = 5000

    private let journal: SQLiteJournal
    private let folder: String
    private let waiting: Int
    private let start: Moment
    private var figures: LoadFigures
    private var made = 0

    static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count == 4, let events = Int(arguments[2]), let waiting = Int(arguments[3]), waiting > 0,
            events >= waiting
        else {
            print("usage: journal-load FOLDER EVENTS WAITING")
            exit(64)
        }
        do {
            var load = try await JournalLoad(folder: arguments[1], waiting: waiting)
            try await load.run(events, rowEvery: max(waiting, min(500_000, events / 10)))
        } catch {
            print("\(error)")
            exit(1)
        }
    }

    private init(folder: String, waiting: Int) async throws {
        self.folder = folder
        self.waiting = waiting
        start = Moment(Instant(milliseconds: WallTime.milliseconds()))
        try StateFolder.prepare(folder)
        let plan = EffectPlan(
            policies: [EffectPolicy(rule: "comments", sinks: [0])], sinkNames: ["hook"], times: [:],
            renderer: LoadRenderer())
        let options = JournalOptions(folder: folder, program: "bench")
        let opened = try await SQLiteJournal.open(options, plan: plan, at: start)
        journal = opened.journal
        for note in opened.notes { print(note) }
        figures = LoadFigures(folder: folder)
    }

    private mutating func run(_ events: Int, rowEvery step: Int) async throws {
        LoadFigures.printHead()
        var next = step
        while made < events {
            try await commit()
            guard made >= next else { continue }
            figures.printRow(after: made)
            next += step
        }
        figures.printSum()
        let counters = await journal.counters()["hook"] ?? SinkCounters()
        print("effects \(counters.effects), delivered \(counters.delivered), pending \(counters.pending)")
        await journal.close()
    }

    /// Accepts as many events as wait, then delivers them.
    private mutating func commit() async throws {
        let milliseconds = made * 1000 / Self.eventsPerSecond
        let now = Moment(start.relay + .milliseconds(Int64(milliseconds)))
        let events = (made..<made + waiting).map { LoadEvents.event($0, at: now.wall) }
        made += waiting
        let intakes = events.map { Intake(event: $0, effects: [Effect(rule: 0, sink: 0, action: .deliver)]) }
        let cursor = StreamCursor(id: UntrustedText(LoadEvents.id(made - 1)), createdAt: now.wall)
        let progress = StreamProgress(stream: "chirp", seen: events.map(\.record.identity), cursor: cursor)
        figures.beginCommit()
        _ = try await journal.accept(intakes, progress: [progress], at: now)
        figures.endCommit(of: waiting)
        let batch = await journal.claim(
            ClaimRequest(sink: "hook", upTo: waiting, lease: .seconds(60)), at: now.relay)
        await journal.settle(batch.claims.map { SettledClaim($0, .delivered) }, at: now.relay)
    }
}

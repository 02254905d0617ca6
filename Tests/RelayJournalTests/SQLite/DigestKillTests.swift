import RelayCore
import RelayTestKit
import Testing

@testable import RelayJournal

/// A digest of an hour that is open when the process is killed is told once, with all of its events.
@Suite(.timeLimit(.minutes(2)))
struct DigestKillTests {
    /// A process from one minute to another, with the minutes in which an event came; it attempts deliveries once a
    /// minute.
    struct Life: Sendable {
        var minutes: ClosedRange<Int>
        var events: Set<Int> = []
        /// Whether it lives long enough to note what became of its last attempts.
        var settles = true

        init(_ minutes: ClosedRange<Int>, events: Set<Int> = [], settles: Bool = true) {
            (self.minutes, self.events, self.settles) = (minutes, events, settles)
        }
    }

    /// Lives one after the other, and when how many events are told.
    struct Plot: Sendable, CustomStringConvertible {
        let description: String
        let lives: [Life]
        let told: [String]

        init(_ description: String, _ lives: [Life], told: [String]) {
            (self.description, self.lives, self.told) = (description, lives, told)
        }
    }

    private static let first = Life(0...30, events: [0, 10, 20])

    private static let plots = [
        Plot("killed at 30 and 50", [first, Life(40...50), Life(90...100)], told: ["3 at 90.0"]),
        Plot("killed at 30 and 80", [first, Life(40...80), Life(90...100)], told: ["3 at 60.0"]),
        Plot(
            "events after the start", [first, Life(40...50, events: [41, 45]), Life(90...100)], told: ["5 at 90.0"]),
        Plot(
            "killed again before the end", [first, Life(40...50, events: [45]), Life(55...65, events: [58])],
            told: ["5 at 60.0"]),
        Plot("killed just before the end", [Life(0...59, events: [0, 59]), Life(60...61)], told: ["2 at 60.0"]),
        Plot(
            "an event that comes after the end", [first, Life(90...100, events: [90, 91]), Life(151...155)],
            told: ["3 at 90.0", "2 at 151.0"]),
        Plot(
            "killed in the attempt", [first, Life(40...60, settles: false), Life(90...100)],
            told: ["3 at 60.0", "3 at 90.0"]),
        Plot(
            "killed in two attempts",
            [first, Life(40...60, settles: false), Life(70...70, settles: false), Life(90...200)],
            told: ["3 at 60.0", "3 at 70.0", "3 at 90.0"]),
    ]

    private static let hourly = EffectPolicy(rule: "hourly", digest: DigestPolicy(timing: .window(.seconds(3600))))

    @Test(arguments: plots) func isToldOnce(plot: Plot) async throws {
        let journal = try await Self.run(plot.lives)
        #expect(journal.told.map(\.description) == plot.told)
        try await Self.check(journal, events: plot.lives.reduce(0) { $0 + $1.events.count })
    }

    @Test(arguments: 0..<30) func isToldOnceWheneverItIsKilled(seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        var lives: [Life] = []
        var minute = 0
        for _ in 0..<8 {
            let end = minute + Int.random(in: 0...50, using: &generator)
            let events = (minute...end).filter { _ in Int.random(in: 0..<6, using: &generator) == 0 }
            // Five that never settle make a delivery dead: it would have killed the relay.
            let settles = lives.count % 3 == 2 || Bool.random(using: &generator)
            lives.append(Life(minute...end, events: Set(events), settles: settles))
            minute = end + Int.random(in: 0...40, using: &generator)
        }
        lives.append(Life(minute + 60...minute + 60))
        lives.append(Life(minute + 700...minute + 700))
        let journal = try await Self.run(lives)
        try await Self.check(journal, events: lives.reduce(0) { $0 + $1.events.count })
    }

    private static func run(_ lives: [Life]) async throws -> KilledJournal {
        var journal = try await KilledJournal([hourly])
        for (number, life) in lives.enumerated() {
            if number > 0 { try await journal.restart(at: Double(life.minutes.lowerBound)) }
            for minute in life.minutes {
                // What is due at an instant comes before its events.
                let isNoted = life.settles || minute < life.minutes.upperBound
                try await journal.deliver(isNoted ? .delivered : nil, at: Double(minute))
                if life.events.contains(minute) { try await journal.offer("e\(minute)", at: Double(minute)) }
            }
        }
        return journal
    }

    /// Every event was told once, an attempt that was made again had the same key and body, and the counters add up.
    private static func check(_ journal: KilledJournal, events: Int) async throws {
        let told = Dictionary(grouping: journal.told, by: \.key).values
        #expect(told.allSatisfy { Set($0.map(\.body)).count == 1 }, "\(journal.told)")
        #expect(told.reduce(0) { $0 + $1[0].count } == events, "\(journal.told)")
        let counters = await journal.counters()
        #expect(counters.effects == events && counters.delivered == events, "\(counters)")
        #expect(counters.pending == 0 && counters.dead == 0 && counters.suppressed == 0, "\(counters)")
    }
}

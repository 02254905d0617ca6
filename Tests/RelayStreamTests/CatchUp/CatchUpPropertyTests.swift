import RelayCore
import RelayTestKit
import Testing

@testable import RelayStream

/// A relay, its journal and its server, shaken: events, pages, commits, lost connections and crashes in any order.
@Suite(.timeLimit(.minutes(5)))
struct CatchUpPropertyTests {
    enum Way: String, CaseIterable, Sendable {
        case oldest, oldestWithoutNext, newest, newestByCursor
    }

    /// One after the other and with pauses, to make way for tests that wait.
    @Test func nothingIsMissedAndNothingDoubled() async throws {
        for way in Way.allCases {
            for seed in 0..<300 as Range<UInt64> {
                var world = try World(way, seed: seed)
                for _ in 0..<150 { world.shake() }
                world.settleDown()
                let faults = world.faults
                #expect(faults.isEmpty, "\(way.rawValue), seed \(seed): \(faults.prefix(3))")
                if !faults.isEmpty { return }
                await Task.yield()
            }
        }
    }

    /// The shaking reaches what it is for.
    @Test func shakingReachesTheRareStates() async throws {
        var seen = World.Coverage()
        for way in Way.allCases {
            for seed in 0..<40 as Range<UInt64> {
                var world = try World(way, seed: seed)
                for _ in 0..<150 { world.shake() }
                seen.add(world.coverage)
                await Task.yield()
            }
        }
        #expect(seen.crashesInCatchUp > 50 && seen.liveInCatchUp > 50 && seen.reopenedInCatchUp > 50)
        #expect(seen.duplicates > 50 && seen.failures > 50)
    }
}

private struct World {
    struct Coverage {
        var crashesInCatchUp = 0, liveInCatchUp = 0, reopenedInCatchUp = 0, duplicates = 0, failures = 0

        mutating func add(_ other: Coverage) {
            crashesInCatchUp += other.crashesInCatchUp
            liveInCatchUp += other.liveInCatchUp
            reopenedInCatchUp += other.reopenedInCatchUp
            duplicates += other.duplicates
            failures += other.failures
        }
    }

    /// Events that wait for their settlement, in one or two parts.
    struct Waiting {
        var ticket: CursorKeeper.Ticket
        var numbers: [Int]
        var parts: Int
    }

    private var configuration: CatchUpConfiguration
    private var generator: SeededGenerator
    private(set) var faults: [String] = []
    private(set) var coverage = Coverage()

    // The server: events have numbers from 1.
    private var produced = 0
    private var nextLive = 1

    // The disk.
    private var stored: [Int: Int] = [:]
    private var savedCursor = CatchUpFixtures.cursor(0)
    private var savedSeen: Set<Int> = []

    // The process.
    private var isOpen = false
    private var keeper = CursorKeeper()
    private var seen: Set<Int> = []
    private var waiting: [Waiting] = []
    private var machine: CatchUp
    private var step = CatchUp.Step.rest
    private var pieces: [EventBatch] = []

    init(_ way: CatchUpPropertyTests.Way, seed: UInt64) throws {
        generator = SeededGenerator(seed: seed)
        configuration =
            switch way {
            case .oldest: try CatchUpFixtures.configuration(.oldest)
            case .oldestWithoutNext: try CatchUpFixtures.configuration(.oldest, next: nil)
            case .newest: try CatchUpFixtures.configuration(.newest, url: "/e")
            case .newestByCursor: try CatchUpFixtures.configuration(.newest)
            }
        configuration.maxPages = 1000
        machine = CatchUp(configuration, policy: RedialPolicy())
        start()
    }

    mutating func shake() {
        switch Int.random(in: 0..<20, using: &generator) {
        case 0..<4: produced += Int.random(in: 1...3, using: &generator)
        case 4..<8: deliver(upTo: Int.random(in: 1...4, using: &generator))
        case 8..<13: advance(mayFail: true)
        case 13..<16: settle()
        case 16: save(keeper.cursor)
        case 17: if isOpen { close() } else { open() }
        case 18: if !isOpen { open() }
        default: if Bool.random(using: &generator) { crash() }
        }
    }

    /// Lets everything come to its end, and looks at what is on disk.
    mutating func settleDown() {
        if !isOpen { open() }
        for _ in 0..<10_000 where machine.isRunning { advance(mayFail: false) }
        deliver(upTo: .max)
        while !waiting.isEmpty { settle() }
        save(keeper.cursor)
        if machine.isRunning || keeper.isBehind { faults.append("the catch-up did not end") }
        for number in stride(from: 1, through: produced, by: 1) where stored[number] != 1 {
            faults.append("event \(number) of \(produced) is stored \(stored[number] ?? 0) times")
        }
        let last = CatchUpFixtures.number(savedCursor.id)
        if last != produced { faults.append("the cursor is at \(last) of \(produced)") }
    }

    // MARK: The process

    private mutating func start() {
        keeper = CursorKeeper(saved: savedCursor)
        seen = savedSeen
        waiting = []
        machine = CatchUp(configuration, policy: RedialPolicy())
        step = .rest
        pieces = []
        isOpen = false
    }

    private mutating func crash() {
        if machine.isRunning { coverage.crashesInCatchUp += 1 }
        start()
    }

    private mutating func open() {
        isOpen = true
        // Some servers begin with a few events of before.
        nextLive = max(1, produced + 1 - Int.random(in: 0...2, using: &generator))
        if machine.isRunning { coverage.reopenedInCatchUp += 1 }
        guard let cursor = keeper.beginCatchUp() else { return }
        let now = Instant(milliseconds: 0)
        if let step = machine.opened(from: cursor, lost: nil, at: now, wallNow: CatchUpFixtures.time(produced)) {
            self.step = step
        }
    }

    private mutating func close() {
        isOpen = false
        machine.closed()
    }

    private mutating func deliver(upTo count: Int) {
        guard isOpen, nextLive <= produced else { return }
        let end = min(produced, nextLive.addingReportingOverflow(count - 1).partialValue)
        let last = count == .max ? produced : end
        let new = fresh(Array(nextLive...last))
        nextLive = last + 1
        guard !new.isEmpty else { return }
        if machine.isRunning { coverage.liveInCatchUp += 1 }
        let parts = randomParts(new)
        wait(keeper.add(live: CatchUpFixtures.batch(new), parts: parts), for: new, parts)
    }

    private mutating func fresh(_ numbers: [Int]) -> [Int] {
        let new = numbers.filter { seen.insert($0).inserted }
        coverage.duplicates += numbers.count - new.count
        return new
    }

    private mutating func randomParts(_ numbers: [Int]) -> Int {
        numbers.isEmpty ? 0 : Int.random(in: 1...2, using: &generator)
    }

    private mutating func wait(_ ticket: CursorKeeper.Ticket, for numbers: [Int], _ parts: Int) {
        if parts > 0 { waiting.append(Waiting(ticket: ticket, numbers: numbers, parts: parts)) }
    }

    /// Commits one of the batches, or a part of what it waits for; the same commit saves ids and the cursor.
    private mutating func settle() {
        guard let index = waiting.indices.randomElement(using: &generator) else { return }
        // Mostly the cursor of before the commit, sometimes that of after it: both are right.
        var cursor = keeper.cursor
        keeper.settle(waiting[index].ticket)
        waiting[index].parts -= 1
        guard waiting[index].parts == 0 else { return }
        if Bool.random(using: &generator) || waiting.count == 1 { cursor = keeper.cursor }
        for number in waiting[index].numbers {
            stored[number, default: 0] += 1
            savedSeen.insert(number)
        }
        waiting.remove(at: index)
        save(cursor)
    }

    /// Saves a cursor, with a commit or without one.
    private mutating func save(_ cursor: StreamCursor?) {
        if let cursor { savedCursor = cursor }
        let last = CatchUpFixtures.number(savedCursor.id)
        if let number = (1...max(1, last)).first(where: { $0 <= last && stored[$0] == nil }) {
            faults.append("the cursor \(last) was saved before event \(number)")
        }
    }

    // MARK: The catch-up

    private mutating func advance(mayFail: Bool) {
        switch step {
        case .rest: return
        case .wait: step = machine.waited(at: .distantFuture)
        case .finish(let result):
            if let gap = result.gap { faults.append("gap: \(gap.reason)") }
            let (isComplete, next) = machine.finished()
            if isComplete { keeper.endCatchUp() }
            step = next
        case .fetch(let question):
            guard !mayFail || Int.random(in: 0..<5, using: &generator) > 0 else {
                coverage.failures += 1
                step = machine.failed(
                    Ending(.network, "no"), status: nil, at: Instant(milliseconds: 0), using: &generator)
                return
            }
            step = machine.took(page(question.address.reveal()))
            if case .feed(let batches) = step { pieces = batches }
        case .feed:
            guard let piece = takePiece() else {
                step = machine.fed()
                return
            }
            let new = fresh(CatchUpFixtures.numbers([piece]))
            let parts = randomParts(new)
            wait(keeper.add(caughtUp: piece, parts: parts), for: new, parts)
        }
    }

    private mutating func takePiece() -> EventBatch? {
        guard var piece = pieces.first else { return nil }
        let count = Int.random(in: 1...3, using: &generator)
        pieces[0].records = Array(piece.records.dropFirst(count))
        piece.records = Array(piece.records.prefix(count))
        if pieces[0].records.isEmpty { pieces.removeFirst() }
        return piece
    }

    /// The page of the server at an address, as the server is now.
    private mutating func page(_ address: String) -> CatchUpPage {
        let size = Int.random(in: 1...4, using: &generator)
        let number = { (name: String) in
            address.split(separator: name + "=").dropFirst().first.flatMap {
                Int($0.drop { $0 == "e" }.prefix(while: \.isNumber))
            }
        }
        if configuration.order == .oldest {
            // Some servers begin with the event that they are asked from; a page then has room for more.
            let isInclusive = number("after") != nil && Bool.random(using: &generator)
            let first = (number("after") ?? number("page") ?? 0) + (isInclusive ? 0 : 1)
            let numbers = Array(
                stride(from: max(first, 1), through: produced, by: 1).prefix(isInclusive ? size + 1 : size))
            let last = numbers.last ?? produced
            return CatchUpFixtures.page(numbers, next: last < produced ? "http://127.0.0.1:9/e?page=\(last)" : nil)
        }
        let stop = number("after") ?? -1
        let first = number("before").map { $0 - 1 } ?? produced
        let numbers = Array(stride(from: first, through: max(stop + 1, 0), by: -1).prefix(size))
        let last = numbers.last ?? 0
        let isLast = last <= max(stop + 1, 0)
        let rest = stop >= 0 ? "&after=e\(stop)" : ""
        return CatchUpFixtures.page(numbers, next: isLast ? nil : "http://127.0.0.1:9/e?before=\(last)\(rest)")
    }
}

import GLibRuntime
import Glibc
import RelayCore
import RelayTestKit
import Testing

@testable import RelayJournal

@Suite(.timeLimit(.minutes(2)))
struct HistoryTests {
    private let folder: JournalFolder

    init() throws { folder = try JournalFolder() }

    private func outcomes(_ filter: HistoryFilter = HistoryFilter(), limit: Int = 99) throws -> [String] {
        try JournalReader(folder: folder.path).history(filter, limit: limit).map { entry in
            let id = entry.event?.string(of: entry.event?.record.id ?? .absent) ?? "?"
            return id + ":" + entry.effects.map { "\($0.rule)>\($0.sink)=\($0.outcome)" }.joined(separator: " ")
        }
    }

    @Test func everyEffectIsToldWithWhatBecameOfIt() async throws {
        let plan = Fixtures.plan([
            EffectPolicy(rule: "plain"),
            EffectPolicy(rule: "daily", digest: DigestPolicy(timing: .window(.seconds(60)))),
            EffectPolicy(rule: "one", limit: LimitPolicy(max: 1, per: .seconds(60), excess: .drop)),
        ])
        let journal = try await folder.journal(plan)
        func offer(_ id: String, _ effects: [Effect], passed: [Effect] = [], at seconds: Double) async throws {
            let event = Fixtures.event(id: id, at: Story.instant(seconds))
            _ = try await journal.accept(
                [Intake(event: event, effects: effects, passed: passed)], progress: [], at: Story.moment(seconds))
        }
        let deliver = { Effect(rule: $0, sink: 0, action: .deliver) }
        try await offer("a", [deliver(0)], passed: [Effect(rule: 0, sink: 1, action: .deliver)], at: 0)
        try await offer("b", [deliver(1), deliver(2)], at: 1)
        try await offer(
            "c", [deliver(1), deliver(2)], passed: [Effect(rule: -1, sink: -1, action: .suppress(.unmatched))], at: 2)
        #expect(
            try outcomes() == [
                "c:>-=suppressed daily>sink=pending one>sink=suppressed", "b:daily>sink=pending one>sink=pending",
                "a:plain>sink=pending plain>other=passed",
            ])
        #expect(await journal.deliver(at: Story.instant(3)).count == 2)
        _ = try await journal.advance(to: Story.moment(70))
        _ = await journal.deliver("sink", .dead(because: "refused"), at: Story.instant(71))
        #expect(
            try outcomes() == [
                "c:>-=suppressed daily>sink=dead one>sink=suppressed", "b:daily>sink=dead one>sink=delivered",
                "a:plain>sink=delivered plain>other=passed",
            ])
        let story = try JournalReader(folder: folder.path).story(of: "none")
        #expect(story.isEmpty)
        var filter = HistoryFilter()
        filter.outcome = .dead
        filter.rule = "daily"
        #expect(try outcomes(filter).count == 2)
        filter.rule = "one"
        #expect(try outcomes(filter) == [])
        #expect(try outcomes(limit: 1).count == 1)
        filter = HistoryFilter()
        (filter.since, filter.until) = (Story.instant(1), Story.instant(2))
        #expect(try outcomes(filter).map { $0.prefix(1) } == ["b"])
    }

    @Test func theStoryOfAnEventIsFoundByItsID() async throws {
        let journal = try await folder.journal()
        let id = "AAAAAAAA-1111-4111-8111-11111111111F"
        for (number, stream) in ["chirp", "other"].enumerated() {
            var event = Fixtures.event(id: id, actor: "Ann", stream: stream)
            event.record.identity = EventID(text: Array(id.utf8).span.bytes)
            let intake = Intake(event: event, effects: [Effect(rule: 0, sink: number, action: .deliver)])
            _ = try await journal.accept([intake], progress: [], at: Story.moment(Double(number)))
        }
        _ = await journal.deliver("sink", .retry(at: Story.instant(9), because: "status 503"), at: Story.instant(5))
        let story = try JournalReader(folder: folder.path).story(of: id.lowercased())
        #expect(story.map(\.receivedAt) == [Story.instant(0), Story.instant(1)])
        #expect(story.map(\.event?.stream) == ["chirp", "other"])
        guard case .delivery(let delivery)? = story.first?.effects.first?.fate else {
            Issue.record("no delivery")
            return
        }
        #expect(delivery.row.attempts == 1 && delivery.row.lastError == "status 503" && delivery.sink == "sink")
        #expect(delivery.row.state == .waiting(until: Story.instant(9)))
        var filter = HistoryFilter()
        filter.actor = "ANN"
        #expect(try outcomes(filter).count == 2)
    }

    @Test func whatIsTooOldGoesInSlices() async throws {
        let policy = HistoryPolicy(keep: .seconds(100))
        let journal = try await folder.open(history: policy).journal
        for start in stride(from: 0, to: 2000, by: 100) {
            try await journal.offer((start..<start + 100).map { "\($0)" })
            _ = await journal.deliver()
        }
        let reader = try JournalReader(folder: folder.path)
        #expect(try reader.recordedCount() == 2000)
        try await journal.offer(["x"], at: Story.moment(200))
        // One slice at a time, so that no commit is long.
        #expect(try reader.recordedCount() == 2001 - HistoryStore.slice)
        for number in 0..<10 { try await journal.offer(["y\(number)"], at: Story.moment(200)) }
        #expect(try reader.recordedCount() == 11)
        let database = try Database(folder.database, .readOnly)
        #expect(try database.number("SELECT count(*) FROM content") == 11)
        #expect(try database.number("SELECT count(*) FROM delivery") == 11)
        // A delivery that is settled after its event is gone leaves nothing.
        for number in 0..<3 { try await journal.offer(["z\(number)"], at: Story.moment(400)) }
        _ = await journal.deliver()
        #expect(try database.number("SELECT count(*) FROM delivery") == 3)
    }

    @Test func whatIsTooOldGoesThoughNothingIsWritten() async throws {
        let journal = try await folder.open(history: HistoryPolicy(keep: .seconds(86_400))).journal
        let due = Story.instant(86_400 + 3600)
        #expect(try await journal.pruneHistory(at: Story.moment(0)) == due)
        for start in stride(from: 0, to: 5000, by: 500) {
            try await journal.offer((start..<start + 500).map { "\($0)" })
            _ = await journal.deliver()
        }
        try await journal.offer(["late"], at: Story.moment(10_000))
        let reader = try JournalReader(folder: folder.path)
        // An hour later than it may be, so that the history is not looked at for each event.
        #expect(try await journal.pruneHistory(at: Story.moment(86_400 + 3599)) == due)
        #expect(try reader.recordedCount() == 5001)
        #expect(try await journal.pruneHistory(at: Story.moment(86_400 + 3600)) == due + .seconds(1))
        #expect(try reader.recordedCount() == 5001 - 4096)
        let moment = Story.moment(86_400 + 3601)
        #expect(try await journal.pruneHistory(at: moment) == due + .seconds(10_000))
        #expect(try reader.recordedCount() == 1)
        await journal.keepHistory(HistoryPolicy(keep: .zero))
        #expect(try await journal.pruneHistory(at: moment) == .distantFuture)
        #expect(try reader.recordedCount() == 0)
    }

    @Test func theHoursOfWhatIsNotRecordedGoToo() async throws {
        let journal = try await folder.open(history: HistoryPolicy(keep: .seconds(86_400))).journal
        for hour in 0..<100 {
            let progress = StreamProgress(stream: "s", seen: [], unrecorded: 1)
            _ = try await journal.accept([], progress: [progress], at: Story.moment(Double(hour * 3600)))
        }
        let database = try Database(folder.database, .readOnly)
        #expect(try database.number("SELECT count(*) FROM unrecorded") == 25)
    }

    @Test func theFileStaysAsLargeAsItMayBe() async throws {
        let policy = HistoryPolicy(most: 3_000_000)
        let journal = try await folder.open(history: policy).journal
        var sizes: [Int] = []
        for round in 0..<120 {
            try await journal.offer((0..<100).map { "\(round)-\($0)-" + String(repeating: "x", count: 300) })
            _ = await journal.deliver()
            sizes.append(folder.size(of: "journal.db"))
        }
        #expect(sizes.suffix(60).max() ?? 0 < 5_000_000, "\(sizes.suffix(3))")
        #expect(try JournalReader(folder: folder.path).recordedCount() > 1000)
    }

    @Test func aHistoryThatIsOffKeepsNothing() async throws {
        let journal = try await folder.journal()
        try await journal.offer(["a", "b"])
        _ = await journal.deliver()
        await journal.keepHistory(HistoryPolicy(keep: .zero))
        try await journal.offer(["c"])
        _ = await journal.deliver()
        let database = try Database(folder.database, .readOnly)
        for table in ["event", "content", "delivery", "body"] {
            #expect(try database.number("SELECT count(*) FROM \(table)") == 0, "\(table)")
        }
        await journal.close()
        let again = try await folder.open(history: HistoryPolicy(keep: .zero))
        #expect(again.notes == [])
        #expect(await again.journal.counters()["sink"]?.delivered == 3)
    }

    @Test func recordedEventsAreReadInOrderAndInSteps() async throws {
        let journal = try await folder.journal()
        for start in stride(from: 0, to: 1200, by: 100) {
            try await journal.offer((start..<start + 100).map { "\($0)" }, at: Story.moment(Double(start)))
        }
        _ = try await journal.accept(
            [], progress: [StreamProgress(stream: "chirp", unrecorded: 7)], at: Story.moment(0))
        let reader = try JournalReader(folder: folder.path)
        var ids: [String] = []
        var number: UInt64 = 0
        while true {
            let step = try reader.recorded(after: number, since: Story.instant(100))
            ids += step.events.compactMap { $0.event.string(of: $0.event.record.id) }
            guard let next = step.next else { break }
            number = next
        }
        #expect(ids == (100..<1200).map(String.init))
        #expect(try reader.unrecordedCount() == 7)
        #expect(try reader.recordedCount(since: Story.instant(100)) == 1100)
    }

    @Test func aReaderSaysWhyItCannotRead() async throws {
        let fault = #expect(throws: JournalReader.Fault.self) { try JournalReader(folder: "/nowhere") }
        #expect(fault == .noJournal(folder: "/nowhere"))
        folder.folder.write("journal.db", String(repeating: "no database at all ", count: 100))
        let damaged = #expect(throws: JournalReader.Fault.self) { try JournalReader(folder: folder.path) }
        #expect(damaged?.description.contains("is damaged") == true)
    }

    @Test func theOutboxIsReadBesideTheRelay() async throws {
        let journal = try await folder.journal()
        try await journal.offer(["a", "b", "c"])
        try await journal.offer(["d"], to: "other")
        let claims = await journal.claim(ClaimRequest(sink: "sink", upTo: 1, lease: .seconds(9)), at: Story.midnight)
        await journal.settle(claims.claims.map { SettledClaim($0, .dead(because: "refused")) }, at: Story.instant(1))
        let reader = try JournalReader(folder: folder.path)
        #expect(try reader.outbox(OutboxSelection(), limit: 9).map(\.delivery.eventID) == ["a", "b", "c", "d"])
        #expect(try reader.outbox(OutboxSelection(isDead: true), limit: 9).map(\.lastError) == ["refused"])
        #expect(try reader.outbox(OutboxSelection(sink: "other"), limit: 9).map(\.state) == [.due])
        #expect(try reader.outbox(OutboxSelection(), limit: 2).count == 2)
        #expect(try reader.counters()["sink"]?.dead == 1)
    }

    @Test func noSecretAndNoAddressIsInTheFile() async throws {
        // Sinks are named; what they need stands in the rules file and nowhere else.
        let journal = try await folder.journal()
        try await journal.offer(["a"])
        await journal.close()
        let text = String(decoding: folder.bytes(of: "journal.db"), as: UTF8.self)
        #expect(text.contains("sink") && !text.contains("http"))
    }
}

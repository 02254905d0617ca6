import GLibRuntime
import Glibc
import RelayCore
import RelayTestKit
import Testing

@testable import RelayJournal

/// Files that are not as they were left.
@Suite(.timeLimit(.minutes(2)))
struct DamageTests {
    private let folder: JournalFolder
    private static let count = 2000

    init() throws { folder = try JournalFolder() }

    /// A journal that was closed in order, with many deliveries.
    private func fill() async throws {
        let journal = try await folder.journal()
        for start in stride(from: 0, to: Self.count, by: 100) {
            try await journal.offer((start..<start + 100).map { "event \($0) " + String(repeating: "x", count: 200) })
        }
        await journal.close()
    }

    private func damageTold(in notes: [JournalNote]) -> JournalDamage? {
        notes.compactMap { if case .damaged(let damage) = $0 { damage } else { nil } }.first
    }

    @Test func whatIsNoDatabaseIsSetAside() async throws {
        folder.folder.write("journal.db", String(repeating: "no database at all ", count: 100))
        let opened = try await folder.open()
        let damage = try #require(damageTold(in: opened.notes))
        #expect(damage.path == folder.database + ".damaged-20300101T000000Z")
        #expect(opened.notes.first?.description.contains(damage.path) == true)
        #expect(folder.names.contains("journal.db.damaged-20300101T000000Z"))
        try await opened.journal.offer(["a"])
        #expect(await opened.journal.deliver() == ["a"])
    }

    @Test func anEmptyFileIsANewJournal() async throws {
        folder.folder.write("journal.db", "")
        #expect(try await folder.open().notes == [])
    }

    @Test(arguments: [0.2, 0.5, 0.9]) func aTruncatedFileIsSalvaged(part: Double) async throws {
        try await fill()
        let bytes = folder.bytes(of: "journal.db")
        folder.write(Array(bytes.prefix(Int(Double(bytes.count) * part))), to: "journal.db")
        try await checkSalvage(atLeast: 0)
    }

    @Test(arguments: 0..<10) func damagedPagesAreSteppedOver(seed: UInt64) async throws {
        try await fill()
        var generator = SeededGenerator(seed: seed)
        var bytes = folder.bytes(of: "journal.db")
        // Not the first page, which has the schema.
        let page = Int.random(in: 2..<bytes.count / 4096, using: &generator)
        for place in page * 4096..<(page + 1) * 4096 { bytes[place] = UInt8.random(in: 0...255, using: &generator) }
        folder.write(bytes, to: "journal.db")
        try await checkSalvage(atLeast: 0)
    }

    /// The write version and the read version of SQLite's file format: files of a later one are not written or read.
    @Test(arguments: [18, 19], [0, 3, 99, 255] as [UInt8])
    func aHeaderOfNoKnownFormatIsDamage(place: Int, value: UInt8) async throws {
        try await fill()
        var bytes = folder.bytes(of: "journal.db")
        bytes[place] = value
        folder.write(bytes, to: "journal.db")
        try await checkSalvage(atLeast: 0)
    }

    @Test func mostOfAFileWithOneBadLeafIsSaved() async throws {
        try await fill()
        var bytes = folder.bytes(of: "journal.db")
        let place = try #require(Self.places(of: "event 1000 ", in: bytes).first)
        for offset in 0..<100 { bytes[place / 4096 * 4096 + offset] = 0xEE }
        folder.write(bytes, to: "journal.db")
        try await checkSalvage(atLeast: Self.count * 9 / 10)
    }

    /// Opens a damaged file, and checks that what is left works and adds up.
    private func checkSalvage(atLeast count: Int) async throws {
        let opened = try await folder.open()
        let saved = await opened.journal.outbox(OutboxSelection(), limit: .max)
        // Random bytes in a free page are no damage.
        if let damage = damageTold(in: opened.notes) { #expect(damage.salvaged.deliveries >= saved.count) }
        #expect(saved.count >= count, "\(saved.count)")
        for entry in saved { #expect(entry.delivery.eventID?.hasPrefix("event ") == true) }
        try await opened.journal.offer(["new"])
        #expect(await opened.journal.deliver().count == min(1000, saved.count + 1))
        for counters in await opened.journal.counters().values {
            let sum = counters.delivered + counters.suppressed + counters.pending + counters.dead
            #expect(counters.effects == sum)
        }
        await opened.journal.close()
        #expect(try await folder.open().notes == [])
    }

    @Test func aFlippedBitInATextCostsThatDelivery() async throws {
        let journal = try await folder.journal()
        try await journal.offer(["first", "second", "third"])
        await journal.close()
        var bytes = folder.bytes(of: "journal.db")
        // The text stands in the body of the delivery, and in the history.
        for place in Self.places(of: "second", in: bytes) { bytes[place] ^= 1 }
        folder.write(bytes, to: "journal.db")
        let opened = try await folder.open()
        #expect(opened.notes == [])
        #expect(await opened.journal.deliver() == ["first", "third"])
        let counters = await opened.journal.counters()["sink"]
        #expect(counters?.delivered == 2 && counters?.dead == 1 && counters?.pending == 0)
    }

    private static func places(of text: String, in bytes: [UInt8]) -> [Int] {
        let pattern = Array(text.utf8)
        var places: [Int] = []
        bytes.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return }
            for place in 0...(bytes.count - pattern.count)
            where bytes[place] == pattern[0] && memcmp(start + place, pattern, pattern.count) == 0 {
                places.append(place)
            }
        }
        return places
    }

    @Test func aLogThatLostItsEndIsNoticed() async throws {
        let journal = try await folder.journal()
        for number in 0..<20 { try await journal.offer(["\(number)"]) }
        let crashed = try JournalFolder()
        for name in folder.names where name != "journal.db-shm" { crashed.write(folder.bytes(of: name), to: name) }
        var log = crashed.bytes(of: "journal.db-wal")
        log[log.count / 2] ^= 0x10
        crashed.write(log, to: "journal.db-wal")
        let opened = try await crashed.open()
        let note = try #require(opened.notes.first)
        guard case .lostEnd(let events, let serials, let commits) = note, opened.notes.count == 1 else {
            Issue.record("\(opened.notes)")
            return
        }
        #expect(events == commits && serials == commits && (1..<20).contains(commits))
        // Numbers that were given are not given again.
        try await opened.journal.offer(["new"])
        #expect(await opened.journal.outbox(OutboxSelection(), limit: 99).last?.serial == 21)
        await opened.journal.close()
        #expect(try await crashed.open().notes == [])
    }

    /// One, or as many as `DAMAGE_SEEDS` says.
    private static var seeds: Range<UInt64> {
        let count = getenv("DAMAGE_SEEDS").flatMap { UInt64(String(cString: $0)) }
        return count.map { 0..<$0 } ?? 12..<13
    }

    @Test(arguments: seeds) func bytesFlippedAtRandomAreNeverFatal(seed: UInt64) async throws {
        let journal = try await folder.journal()
        for number in 0..<50 { try await journal.offer(["event \(number)"]) }
        _ = await journal.deliver("sink", .retry(at: Story.instant(1), because: "no"))
        var generator = SeededGenerator(seed: seed)
        for round in 0..<60 {
            let crashed = try JournalFolder()
            for name in folder.names where name != "journal.db-shm" {
                var bytes = folder.bytes(of: name)
                for _ in 0..<Int.random(in: 0...8, using: &generator) where !bytes.isEmpty {
                    bytes[Int.random(in: 0..<bytes.count, using: &generator)] = .random(in: 0...255, using: &generator)
                }
                crashed.write(bytes, to: name)
            }
            let opened = try await crashed.open()
            try await opened.journal.offer(["new \(round)"])
            #expect(await opened.journal.deliver().contains("new \(round)"))
        }
    }
}

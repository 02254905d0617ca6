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

    @Test(arguments: 0..<10) func noByteOfTheHeaderIsFatal(tenth: Int) async throws {
        let bytes = try await smallFile()
        for place in tenth * 10..<tenth * 10 + 10 {
            for flip: UInt8 in [0x01, 0x80, 0xFF] {
                var damaged = bytes
                damaged[place] ^= flip
                try await checkThatItGoesOn(with: damaged, "byte \(place) ^ \(flip)")
            }
        }
    }

    @Test(arguments: 0..<10) func noByteOfTheSchemaIsFatal(seed: UInt64) async throws {
        let bytes = try await smallFile()
        let texts = Self.places(of: "CREATE ", in: bytes)
        try #require(texts.count > 5)
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<20 {
            var damaged = bytes
            let place = (texts.randomElement(using: &generator) ?? 0) + .random(in: -20..<120, using: &generator)
            damaged[place] ^= .random(in: 1...255, using: &generator)
            try await checkThatItGoesOn(with: damaged, "seed \(seed): byte \(place)")
        }
    }

    /// The file of a journal that was closed in order, with few deliveries.
    private func smallFile() async throws -> [UInt8] {
        let journal = try await folder.journal()
        try await journal.offer((0..<20).map { "event \($0)" })
        await journal.close()
        return folder.bytes(of: "journal.db")
    }

    /// Opens a file, whatever is wrong with it, and delivers something new.
    private func checkThatItGoesOn(with bytes: [UInt8], _ what: Comment) async throws {
        let damaged = try JournalFolder()
        damaged.write(bytes, to: "journal.db")
        try await checkThatItGoesOn(in: damaged, what)
    }

    private func checkThatItGoesOn(in folder: JournalFolder, _ what: Comment) async throws {
        do {
            let opened = try await folder.open()
            try await opened.journal.offer(["new"])
            #expect(await opened.journal.deliver().contains("new"), what)
        } catch {
            Issue.record("\(what): \(error)")
        }
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

    /// One, or those below what `DAMAGE_SEEDS` says, by blocks: all cases of a test begin together.
    private static var seeds: [Range<UInt64>] {
        guard let count = getenv("DAMAGE_SEEDS").flatMap({ UInt64(String(cString: $0)) }) else { return [12..<13] }
        return stride(from: 0, to: count, by: 20).map { $0..<min(count, $0 + 20) }
    }

    @Test(arguments: seeds) func bytesFlippedAtRandomAreNeverFatal(seeds: Range<UInt64>) async throws {
        let journal = try await folder.journal()
        for number in 0..<50 { try await journal.offer(["event \(number)"]) }
        _ = await journal.deliver("sink", .retry(at: Story.instant(1), because: "no"))
        for seed in seeds {
            var generator = SeededGenerator(seed: seed)
            for _ in 0..<60 {
                let crashed = try JournalFolder()
                for name in folder.names where name != "journal.db-shm" {
                    var bytes = folder.bytes(of: name)
                    for _ in 0..<Int.random(in: 0...8, using: &generator) where !bytes.isEmpty {
                        let place = Int.random(in: 0..<bytes.count, using: &generator)
                        bytes[place] = .random(in: 0...255, using: &generator)
                    }
                    crashed.write(bytes, to: name)
                }
                try await checkThatItGoesOn(in: crashed, "seed \(seed)")
            }
        }
    }
}

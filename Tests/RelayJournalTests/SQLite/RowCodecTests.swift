import RelayCore
import RelayTestKit
import Testing

@testable import RelayJournal

@Suite(.timeLimit(.minutes(2)))
struct RowCodecTests {
    /// A value of each type that rows hold, as bytes and with a way to read them.
    private struct Sample {
        let bytes: [UInt8]
        let read: ([UInt8]) throws -> [UInt8]

        init<Value: StoredValue>(_ value: Value) {
            bytes = RowWriter.encode(value)
            read = { RowWriter.encode(try RowReader.decode(Value.self, $0)) }
        }
    }

    private static func samples(_ rows: inout RandomRows) -> [Sample] {
        let cursor = StreamCursor(id: UntrustedText(rows.text()), createdAt: rows.instant())
        let briefing = BriefingRow(serial: rows.number(), sink: rows.text(), time: rows.text(), tally: rows.tally())
        var totals = LedgerTotals(lastSerial: rows.number())
        totals.overflows.limitKeys = rows.count()
        return [
            Sample(rows.event()), Sample(DeliveryBody(rows.delivery())), Sample(rows.limitRow()),
            Sample(RepeatRow(key: rows.key(), at: rows.instant(), within: rows.duration(), order: rows.number())),
            Sample(rows.groupRow()), Sample(briefing), Sample(Gathering.Item(rows.event(), rule: rows.text())),
            Sample(rows.plan()), Sample(rows.silences()), Sample(totals), Sample(cursor),
            Sample(RecordedEffects(rows.effects())), Sample(ClosingRow.Fate.delivery(rows.number())),
            Sample(HighWaterMark(serial: rows.number(), event: rows.number(), seen: rows.number())),
        ]
    }

    @Test(arguments: 0..<50) func whatIsWrittenIsRead(seed: UInt64) throws {
        var rows = RandomRows(seed: seed)
        for sample in Self.samples(&rows) { #expect(try sample.read(sample.bytes) == sample.bytes, "seed \(seed)") }
    }

    @Test func anEventKeepsAllOfItsFields() throws {
        var rows = RandomRows(seed: 7)
        for _ in 0..<200 {
            let event = rows.event()
            #expect(try RowReader.decode(Event.self, RowWriter.encode(event)) == event)
        }
    }

    @Test func anEventOfABatchIsWrittenWithoutTheOthers() throws {
        let event = Fixtures.event(text: "mine")
        var record = event.record
        for field in [\EventRecord.id, \.kind, \.actor, \.text] { record[keyPath: field].offset += 5000 }
        let amid = Event(
            storage: Array(repeating: 120, count: 5000) + event.storage + Array(repeating: 121, count: 5000),
            record: record, stream: event.stream)
        #expect(RowWriter.encode(amid) == RowWriter.encode(event))
    }

    /// A flipped bit is noticed, as a rule by the checksum; with a checksum that is right for the bits, nothing is read
    /// beyond its end and nothing overflows.
    @Test(arguments: 0..<10) func damagedBytesAreRefusedOrRead(seed: UInt64) {
        var rows = RandomRows(seed: seed)
        for _ in 0..<100 {
            for sample in Self.samples(&rows) {
                var bytes = sample.bytes
                Self.mutate(&bytes, using: &rows.generator)
                if bytes != sample.bytes { #expect(throws: DamagedRow.self, "seed \(seed)") { try sample.read(bytes) } }
                bytes = Array(bytes.dropLast(4))
                Self.mutate(&bytes, using: &rows.generator)
                _ = try? sample.read(Self.sealed(bytes))
            }
        }
    }

    private static func mutate(_ bytes: inout [UInt8], using generator: inout SeededGenerator) {
        for _ in 0...Int.random(in: 0..<4, using: &generator) where !bytes.isEmpty {
            let place = bytes.indices.randomElement(using: &generator) ?? 0
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            case 1: bytes[place] = [0, 1, 0x7F, 0x80, 0xFF].randomElement(using: &generator) ?? 0
            case 2: bytes.remove(at: place)
            default: bytes.insert(UInt8.random(in: 0...255, using: &generator), at: place)
            }
        }
    }

    private static func sealed(_ bytes: [UInt8]) -> [UInt8] {
        let checksum = RowChecksum.of(bytes.span.bytes)
        return bytes + (0..<4).map { UInt8(truncatingIfNeeded: checksum >> (8 * $0)) }
    }
}

package import RelayCore

/// One effect of a recorded event, and where it went when the event was accepted.
package struct RecordedEffect: Sendable, Equatable {
    /// Where an effect can go.
    package enum Path: Sendable, Equatable {
        /// To its sink without the journal, as a line of standard output does.
        case passed
        /// It became the delivery with this serial.
        case delivery(UInt64)
        /// It joined the open digest with this serial.
        case group(UInt64)
        /// It joined the open briefing with this serial.
        case briefing(UInt64)
        /// It ended in a receipt.
        case receipt(Receipt)
        /// The share of its sink was full: it is dead.
        case outboxFull
    }

    /// The name of the rule; empty if no rule matched.
    package var rule: String
    /// The name of the sink, or `-`.
    package var sink: String
    /// Where it went.
    package var path: Path

    /// Creates an effect.
    package init(rule: String, sink: String, path: Path) {
        self.rule = rule
        self.sink = sink
        self.path = path
    }
}

/// The effects of a recorded event.
struct RecordedEffects: StoredValue, Equatable {
    var effects: [RecordedEffect]

    var expectedBytes: Int { effects.reduce(8) { $0 + $1.rule.utf8.count + $1.sink.utf8.count + 16 } }

    init(_ effects: [RecordedEffect]) {
        self.effects = effects
    }

    func write(to writer: inout RowWriter) {
        writer.write(list: effects) { $0.write($1) }
    }

    init(from reader: inout RowReader) throws(DamagedRow) {
        effects = try reader.list { reader throws(DamagedRow) in try reader.value(RecordedEffect.self) }
    }
}

extension RecordedEffect: StoredValue {
    func write(to writer: inout RowWriter) {
        writer.write(rule)
        writer.write(sink)
        switch path {
        case .passed: writer.write(UInt8(0))
        case .delivery(let serial): writer.write(tag: 1, serial)
        case .group(let serial): writer.write(tag: 2, serial)
        case .briefing(let serial): writer.write(tag: 3, serial)
        case .receipt(let receipt):
            writer.write(UInt8(4))
            writer.write(word: receipt)
        case .outboxFull: writer.write(UInt8(5))
        }
    }

    init(from reader: inout RowReader) throws(DamagedRow) {
        rule = try reader.text()
        sink = try reader.text()
        switch try reader.byte() {
        case 0: path = .passed
        case 1: path = .delivery(try reader.unsigned())
        case 2: path = .group(try reader.unsigned())
        case 3: path = .briefing(try reader.unsigned())
        case 4: path = .receipt(try reader.word(of: Receipt.self))
        case 5: path = .outboxFull
        default: throw DamagedRow()
        }
    }
}

extension ClosingRow.Fate: StoredValue {
    func write(to writer: inout RowWriter) {
        switch self {
        case .delivery(let serial): writer.write(tag: 1, serial)
        case .briefing(let serial): writer.write(tag: 3, serial)
        case .receipt(let receipt):
            writer.write(UInt8(4))
            writer.write(word: receipt)
        case .outboxFull: writer.write(UInt8(5))
        }
    }

    init(from reader: inout RowReader) throws(DamagedRow) {
        switch try reader.byte() {
        case 1: self = .delivery(try reader.unsigned())
        case 3: self = .briefing(try reader.unsigned())
        case 4: self = .receipt(try reader.word(of: Receipt.self))
        case 5: self = .outboxFull
        default: throw DamagedRow()
        }
    }
}

extension RowWriter {
    fileprivate mutating func write(tag: UInt8, _ serial: UInt64) {
        write(tag)
        write(serial)
    }
}

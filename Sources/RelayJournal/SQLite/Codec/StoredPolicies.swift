internal import GLibRuntime
internal import RelayCore

extension LimitPolicy: StoredValue {
    func write(to writer: inout RowWriter) {
        writer.write(count: max)
        writer.write(per)
        writer.write(list: by) { $0.write(word: $1) }
        writer.write(word: excess)
    }

    init(from reader: inout RowReader) throws(DamagedRow) {
        let max = try reader.count()
        guard max > 0 else { throw DamagedRow() }
        self.init(
            max: max, per: try reader.duration(), by: try reader.keyFields(),
            excess: try reader.word(of: LimitPolicy.Excess.self))
    }
}

extension RepeatPolicy: StoredValue {
    func write(to writer: inout RowWriter) {
        writer.write(list: by) { $0.write(word: $1) }
        writer.write(within)
    }

    init(from reader: inout RowReader) throws(DamagedRow) {
        self.init(by: try reader.keyFields(), within: try reader.duration())
    }
}

extension DigestPolicy: StoredValue {
    func write(to writer: inout RowWriter) {
        writer.write(list: by) { $0.write(word: $1) }
        switch timing {
        case .window(let window):
            writer.write(UInt8(0))
            writer.write(window)
        case .at(let times):
            writer.write(UInt8(1))
            writer.write(list: times.minutes) { $0.write(count: $1) }
            writer.write(times.zone.name)
        }
        writer.write(optional: max) { $0.write(count: $1) }
        writer.write(sendsFirst)
    }

    init(from reader: inout RowReader) throws(DamagedRow) {
        self.init(
            by: try reader.keyFields(), timing: try Self.timing(from: &reader),
            max: try reader.optional { reader throws(DamagedRow) in try reader.count() }, sendsFirst: try reader.bool())
    }

    private static func timing(from reader: inout RowReader) throws(DamagedRow) -> Timing {
        switch try reader.byte() {
        case 0: return .window(try reader.duration())
        case 1:
            let minutes = try reader.list { reader throws(DamagedRow) in try reader.minute(in: 0..<1440) }
            guard !minutes.isEmpty else { throw DamagedRow() }
            return .at(DailyTimes(minutes: minutes, zone: try reader.zone()))
        default: throw DamagedRow()
        }
    }
}

extension QuietTime: StoredValue {
    func write(to writer: inout RowWriter) {
        writer.write(count: from)
        writer.write(count: to)
        writer.write(days.enumerated().reduce(UInt8(0)) { $1.element ? $0 | 1 << UInt8($1.offset) : $0 })
        writer.write(zone.name)
    }

    init(from reader: inout RowReader) throws(DamagedRow) {
        let from = try reader.minute(in: 0..<1441)
        let to = try reader.minute(in: 0..<1441)
        let bits = try reader.byte()
        guard from != to else { throw DamagedRow() }
        self.init(from: from, to: to, days: (0..<7).map { bits & 1 << UInt8($0) != 0 }, zone: try reader.zone())
    }
}

extension EffectPolicy: StoredValue {
    func write(to writer: inout RowWriter) {
        writer.write(rule)
        writer.write(optional: self.repeat) { $0.write($1) }
        writer.write(optional: digest) { $0.write($1) }
        writer.write(optional: hold) { $0.write($1) }
        writer.write(optional: limit) { $0.write($1) }
        writer.write(list: sinks) { $0.write(count: $1) }
        writer.write(keepsRaw)
    }

    init(from reader: inout RowReader) throws(DamagedRow) {
        self.init(
            rule: try reader.text(),
            repeat: try reader.optional { reader throws(DamagedRow) in try reader.value(RepeatPolicy.self) },
            digest: try reader.optional { reader throws(DamagedRow) in try reader.value(DigestPolicy.self) },
            hold: try reader.optional { reader throws(DamagedRow) in try reader.text() },
            limit: try reader.optional { reader throws(DamagedRow) in try reader.value(LimitPolicy.self) },
            sinks: try reader.list { reader throws(DamagedRow) in try reader.count() }, keepsRaw: try reader.bool())
    }
}

extension RowReader {
    fileprivate mutating func keyFields() throws(DamagedRow) -> [KeyField] {
        try list { reader throws(DamagedRow) in try reader.word(of: KeyField.self) }
    }

    fileprivate mutating func minute(in range: Range<Int>) throws(DamagedRow) -> Int {
        let minute = try count()
        guard range.contains(minute) else { throw DamagedRow() }
        return minute
    }

    /// Reads the name of a zone; one that the system does not have any more is the system's.
    fileprivate mutating func zone() throws(DamagedRow) -> Zone {
        let name = try text()
        return name.isEmpty ? Zone() : Zone(named: name) ?? Zone()
    }
}

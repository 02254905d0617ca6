internal import RelayCore

extension Scope: StoredValue {
    func write(to writer: inout RowWriter) {
        writer.write(rule)
        writer.write(sink)
    }

    init(from reader: inout RowReader) throws(DamagedRow) {
        self.init(rule: try reader.text(), sink: try reader.text())
    }
}

extension Deadline: StoredValue {
    func write(to writer: inout RowWriter) {
        switch self {
        case .relay(let instant):
            writer.write(UInt8(0))
            writer.write(instant)
        case .wall(let instant):
            writer.write(UInt8(1))
            writer.write(instant)
        }
    }

    init(from reader: inout RowReader) throws(DamagedRow) {
        switch try reader.byte() {
        case 0: self = .relay(try reader.instant())
        case 1: self = .wall(try reader.instant())
        default: throw DamagedRow()
        }
    }
}

extension GatheringTally: StoredValue {
    func write(to writer: inout RowWriter) {
        writer.write(count: count)
        writer.write(first)
        writer.write(last)
    }

    init(from reader: inout RowReader) throws(DamagedRow) {
        self.init()
        count = try reader.count()
        first = try reader.instant()
        last = try reader.instant()
    }
}

extension GroupSort: StoredValue {
    func write(to writer: inout RowWriter) {
        switch self {
        case .digest(let policy):
            writer.write(UInt8(0))
            writer.write(policy)
        case .excess(let policy):
            writer.write(UInt8(1))
            writer.write(policy)
        }
    }

    init(from reader: inout RowReader) throws(DamagedRow) {
        switch try reader.byte() {
        case 0: self = .digest(try reader.value(DigestPolicy.self))
        case 1: self = .excess(try reader.value(LimitPolicy.self))
        default: throw DamagedRow()
        }
    }
}

extension LimitRow: StoredValue {
    func write(to writer: inout RowWriter) {
        writer.write(key)
        writer.write(scope)
        writer.write(isShared)
        writer.write(list: charges) { $0.write($1) }
        writer.write(list: owners) { $0.write($1) }
        writer.write(count: untold)
        writer.write(per)
        writer.write(optional: expiry) { $0.write($1) }
    }

    init(from reader: inout RowReader) throws(DamagedRow) {
        self.init(
            key: try reader.key(), scope: try reader.value(Scope.self), isShared: try reader.bool(),
            charges: try reader.list { reader throws(DamagedRow) in try reader.instant() },
            owners: try reader.list { reader throws(DamagedRow) in try reader.key() }, untold: try reader.count(),
            per: try reader.duration(),
            expiry: try reader.optional { reader throws(DamagedRow) in try reader.unsigned() })
        guard owners.count == (isShared ? charges.count : 0) else { throw DamagedRow() }
    }
}

extension RepeatRow: StoredValue {
    func write(to writer: inout RowWriter) {
        writer.write(key)
        writer.write(at)
        writer.write(within)
        writer.write(order)
    }

    init(from reader: inout RowReader) throws(DamagedRow) {
        self.init(
            key: try reader.key(), at: try reader.instant(), within: try reader.duration(),
            order: try reader.unsigned())
    }
}

extension GroupRow: StoredValue {
    func write(to writer: inout RowWriter) {
        writer.write(serial)
        writer.write(key)
        writer.write(scope)
        writer.write(sort)
        writer.write(isShared)
        writer.write(deadline)
        writer.write(optional: waits) { $0.write($1) }
        writer.write(optional: limitKey) { $0.write($1) }
        writer.write(tally)
    }

    init(from reader: inout RowReader) throws(DamagedRow) {
        self.init(
            serial: try reader.unsigned(), key: try reader.key(), scope: try reader.value(Scope.self),
            sort: try reader.value(GroupSort.self), isShared: try reader.bool(),
            deadline: try reader.value(Deadline.self),
            waits: try reader.optional { reader throws(DamagedRow) in try reader.duration() },
            limitKey: try reader.optional { reader throws(DamagedRow) in try reader.key() },
            tally: try reader.value(GatheringTally.self))
    }
}

extension BriefingRow: StoredValue {
    func write(to writer: inout RowWriter) {
        writer.write(serial)
        writer.write(sink)
        writer.write(time)
        writer.write(tally)
    }

    init(from reader: inout RowReader) throws(DamagedRow) {
        self.init(
            serial: try reader.unsigned(), sink: try reader.text(), time: try reader.text(),
            tally: try reader.value(GatheringTally.self))
    }
}

extension Gathering.Item: StoredValue {
    var expectedBytes: Int { event.expectedBytes + rule.utf8.count }

    func write(to writer: inout RowWriter) {
        writer.write(rule)
        writer.write(event)
    }

    init(from reader: inout RowReader) throws(DamagedRow) {
        let rule = try reader.text()
        self.init(try reader.value(Event.self), rule: rule)
    }
}

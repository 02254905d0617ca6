internal import RelayCore

extension Event: StoredValue {
    private static let serverIDFlag: UInt8 = 1 << 5

    var expectedBytes: Int {
        var count = 64 + stream.utf8.count + Int(record.id.count) + Int(record.kind.count)
        for range in record.optionalFields { count += Int(range.count) }
        return count
    }

    func write(to writer: inout RowWriter) {
        var flags: UInt8 = record.hasServerID ? Self.serverIDFlag : 0
        let fields = record.optionalFields
        for (bit, range) in fields.enumerated() where range.isPresent { flags |= 1 << UInt8(bit) }
        writer.write(flags)
        writer.write(record.identity)
        writer.write(record.createdAt)
        writer.write(stream)
        write(record.id, to: &writer)
        write(record.kind, to: &writer)
        for range in fields where range.isPresent { write(range, to: &writer) }
    }

    private func write(_ range: TextRange, to writer: inout RowWriter) {
        writer.write(storage[Int(range.offset)..<(Int(range.offset) + Int(range.count))])
    }

    init(from reader: inout RowReader) throws(DamagedRow) {
        let flags = try reader.byte()
        let identity = try reader.eventID()
        let createdAt = try reader.instant()
        let stream = try reader.text()
        var storage: [UInt8] = []
        func place() throws(DamagedRow) -> TextRange {
            let text = try reader.utf8()
            defer { storage.append(contentsOf: text) }
            return TextRange(offset: UInt32(clamping: storage.count), count: UInt32(clamping: text.count))
        }
        var record = EventRecord(identity: identity, createdAt: createdAt, id: try place(), kind: try place())
        var fields = record.optionalFields
        for bit in fields.indices where flags & 1 << UInt8(bit) != 0 { fields[bit] = try place() }
        record.optionalFields = fields
        record.hasServerID = flags & Self.serverIDFlag != 0
        self.init(storage: storage, record: record, stream: stream)
    }
}

extension EventRecord {
    /// The fields that an event may not have, in the order in which they are written.
    fileprivate var optionalFields: [TextRange] {
        get { [actor, post, text, link, raw] }
        set { (actor, post, text, link, raw) = (newValue[0], newValue[1], newValue[2], newValue[3], newValue[4]) }
    }
}

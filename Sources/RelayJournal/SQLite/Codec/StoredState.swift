internal import RelayCore

extension PlanRow: StoredValue {
    var expectedBytes: Int { 64 * (policies.count + times.count + 1) }

    func write(to writer: inout RowWriter) {
        writer.write(list: policies) { $0.write($1) }
        writer.write(list: sinkNames) { $0.write($1) }
        // In one order, so that the bytes are the same.
        writer.write(list: times.sorted { $0.key < $1.key }) { writer, entry in
            writer.write(entry.key)
            writer.write(entry.value)
        }
    }

    init(from reader: inout RowReader) throws(DamagedRow) {
        let policies = try reader.list { reader throws(DamagedRow) in try reader.value(EffectPolicy.self) }
        let sinkNames = try reader.list { reader throws(DamagedRow) in try reader.text() }
        let times = try reader.list { reader throws(DamagedRow) -> (String, QuietTime) in
            (try reader.text(), try reader.value(QuietTime.self))
        }
        self.init(policies: policies, sinkNames: sinkNames, times: Dictionary(times) { first, _ in first })
    }
}

extension LedgerTotals: StoredValue {
    func write(to writer: inout RowWriter) {
        writer.write(lastSerial)
        writer.write(count: overflows.groups)
        writer.write(count: overflows.limitKeys)
        writer.write(count: overflows.repeatKeys)
    }

    init(from reader: inout RowReader) throws(DamagedRow) {
        self.init(lastSerial: try reader.unsigned())
        overflows.groups = try reader.count()
        overflows.limitKeys = try reader.count()
        overflows.repeatKeys = try reader.count()
    }
}

extension Silence: StoredValue {
    func write(to writer: inout RowWriter) {
        writer.write(id)
        for field in matcher.fields { writer.write(optional: field) { $0.write($1) } }
        writer.write(until)
    }

    init(from reader: inout RowReader) throws(DamagedRow) {
        let id = try reader.unsigned()
        func field() throws(DamagedRow) -> String? {
            try reader.optional { reader throws(DamagedRow) in try reader.text() }
        }
        let matcher = Matcher(
            kind: try field(), actor: try field(), post: try field(), rule: try field(), sink: try field(),
            stream: try field())
        self.init(id: id, matcher: matcher, until: try reader.instant())
    }
}

extension Silence.Matcher {
    /// The fields in the order in which they are written.
    fileprivate var fields: [String?] { [kind, actor, post, rule, sink, stream] }
}

extension SilenceRows: StoredValue {
    func write(to writer: inout RowWriter) {
        writer.write(lastID)
        writer.write(list: silences) { $0.write($1) }
    }

    init(from reader: inout RowReader) throws(DamagedRow) {
        let lastID = try reader.unsigned()
        self.init(
            silences: try reader.list { reader throws(DamagedRow) in try reader.value(Silence.self) }, lastID: lastID)
    }
}

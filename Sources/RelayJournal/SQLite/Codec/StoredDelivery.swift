internal import RelayCore

extension Notice: StoredValue {
    func write(to writer: inout RowWriter) {
        writer.write(title)
        writer.write(body)
        writer.write(link)
        writer.write(word: urgency)
        writer.write(icon)
        writer.write(rule)
        writer.write(count: suppressed)
    }

    init(from reader: inout RowReader) throws(DamagedRow) {
        self.init(
            title: try reader.untrusted(), body: try reader.untrusted(), link: try reader.untrusted(),
            urgency: try reader.word(of: Urgency.self), icon: try reader.text(), rule: try reader.text(),
            suppressed: try reader.count())
    }
}

extension Summary: StoredValue {
    func write(to writer: inout RowWriter) {
        writer.write(key)
        writer.write(count: count)
        writer.write(first)
        writer.write(last)
        for texts in [events, actors, posts] { writer.write(list: texts) { $0.write($1) } }
    }

    init(from reader: inout RowReader) throws(DamagedRow) {
        self.init(key: try reader.untrusted(), of: Gathering())
        count = try reader.count()
        first = try reader.instant()
        last = try reader.instant()
        for texts in [\Summary.events, \.actors, \.posts] {
            self[keyPath: texts] = try reader.list { reader throws(DamagedRow) in try reader.untrusted() }
        }
    }
}

extension Delivery.Content: StoredValue {
    func write(to writer: inout RowWriter) {
        switch self {
        case .event(let event):
            writer.write(UInt8(0))
            writer.write(event)
        case .digest(let summary):
            writer.write(UInt8(1))
            writer.write(summary)
        case .briefing(let summary):
            writer.write(UInt8(2))
            writer.write(summary)
        }
    }

    init(from reader: inout RowReader) throws(DamagedRow) {
        switch try reader.byte() {
        case 0: self = .event(try reader.value(Event.self))
        case 1: self = .digest(try reader.value(Summary.self))
        case 2: self = .briefing(try reader.value(Summary.self))
        default: throw DamagedRow()
        }
    }
}

/// The part of a delivery that is dropped when it is settled.
///
/// Key and sink stand beside it in columns; the key is written here again, so that a body that came to the wrong row is
/// noticed.
struct DeliveryBody: StoredValue {
    var key: String
    var notice: Notice
    var content: Delivery.Content

    init(_ delivery: Delivery) {
        (key, notice, content) = (delivery.key, delivery.notice, delivery.content)
    }

    var expectedBytes: Int {
        let texts = 192 + notice.title.utf8.count + notice.body.utf8.count + notice.link.utf8.count
        return switch content {
        case .event(let event): texts + event.expectedBytes
        case .digest(let summary), .briefing(let summary): texts + summary.byteCount
        }
    }

    func write(to writer: inout RowWriter) {
        writer.write(key)
        writer.write(notice)
        writer.write(content)
    }

    init(from reader: inout RowReader) throws(DamagedRow) {
        key = try reader.text()
        notice = try reader.value(Notice.self)
        content = try reader.value(Delivery.Content.self)
    }

    /// Returns the delivery of the row with that key and sink.
    func delivery(key: String, sink: String) throws(DamagedRow) -> Delivery {
        guard key == self.key else { throw DamagedRow() }
        return Delivery(key: key, sink: sink, notice: notice, content: content)
    }
}

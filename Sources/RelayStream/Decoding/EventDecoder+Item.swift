internal import CSimdjson
internal import RelayCore

/// Items as the parser leaves them.
struct ParsedItems {
    /// The items, valid until the parser's next call.
    let items: UnsafeBufferPointer<relay_json_item>
    /// Where in the batch's storage their places count from.
    let base: UInt32

    /// The place of a value in the storage.
    @inline(__always) fileprivate func range(of value: relay_json_value) -> TextRange {
        TextRange(offset: base + value.offset, count: value.count)
    }
}

extension EventDecoder {
    /// Appends the events that `items` are, or counts why they are none.
    mutating func decode(
        _ parsed: ParsedItems, _ receivedAt: Instant, _ records: inout [EventRecord], _ storage: inout [UInt8],
        _ outcome: inout DecodeOutcome
    ) {
        // By pointer: an item is 152 bytes, which the parser has just written, and copying those stalls.
        guard var item = parsed.items.baseAddress else { return }
        for _ in parsed.items.indices {
            if let record = plainRecord(item, of: parsed, storage) {
                records.append(record)
            } else {
                decode(item, of: parsed, receivedAt, &records, &storage, &outcome)
            }
            item += 1
        }
    }

    /// Returns the record of an item all of whose fields are plain strings or null, or nil if there is anything else
    /// about it.
    @inline(__always)
    private mutating func plainRecord(
        _ item: UnsafePointer<relay_json_item>, of parsed: ParsedItems, _ storage: [UInt8]
    ) -> EventRecord? {
        let special = item.pointee.special
        if special != 0, !Self.areNull(special, of: item) { return nil }
        let found = item.pointee.found & ~special
        guard found & needed == needed, item.pointee.raw.count <= Self.longestText, kinds.isEmpty else { return nil }
        let text = storage.span.bytes
        guard let createdAt = times.parse(text.extracting(parsed.range(of: item.pointee.created_at).bounds))
        else { return nil }
        let id = parsed.range(of: item.pointee.id)
        var record = EventRecord(
            identity: EventID(text: text.extracting(id.bounds)), createdAt: createdAt, id: id,
            kind: parsed.range(of: item.pointee.kind))
        if found & Self.bit(RELAY_JSON_FIELD_ACTOR) != 0 { record.actor = parsed.range(of: item.pointee.actor) }
        if found & Self.bit(RELAY_JSON_FIELD_POST) != 0 { record.post = parsed.range(of: item.pointee.post) }
        if found & Self.bit(RELAY_JSON_FIELD_TEXT) != 0 { record.text = parsed.range(of: item.pointee.text) }
        if found & Self.bit(RELAY_JSON_FIELD_LINK) != 0 { record.link = parsed.range(of: item.pointee.link) }
        record.raw = parsed.range(of: item.pointee.raw)
        return record
    }

    /// Whether the fields of an item that may be missing, and no others, are among `special` and null.
    private static func areNull(_ special: UInt32, of item: UnsafePointer<relay_json_item>) -> Bool {
        func isNull(_ field: relay_json_field, _ value: relay_json_value) -> Bool {
            special & bit(field) == 0 || value.kind == RELAY_JSON_NULL
        }
        return isNull(RELAY_JSON_FIELD_POST, item.pointee.post) && isNull(RELAY_JSON_FIELD_ACTOR, item.pointee.actor)
            && isNull(RELAY_JSON_FIELD_TEXT, item.pointee.text) && isNull(RELAY_JSON_FIELD_LINK, item.pointee.link)
            && special & ~optional == 0
    }

    private static var optional: UInt32 {
        bit(RELAY_JSON_FIELD_POST) | bit(RELAY_JSON_FIELD_ACTOR) | bit(RELAY_JSON_FIELD_TEXT)
            | bit(RELAY_JSON_FIELD_LINK)
    }

    /// The fields that an ordinary event has.
    private var needed: UInt32 {
        Self.bit(RELAY_JSON_FIELD_ID) | Self.bit(RELAY_JSON_FIELD_KIND) | Self.bit(RELAY_JSON_FIELD_CREATED_AT)
    }

    private static func bit(_ field: relay_json_field) -> UInt32 { 1 << field.rawValue }

    /// Appends the event that any item is, or counts why it is none.
    private mutating func decode(
        _ item: UnsafePointer<relay_json_item>, of parsed: ParsedItems, _ receivedAt: Instant,
        _ records: inout [EventRecord], _ storage: inout [UInt8], _ outcome: inout DecodeOutcome
    ) {
        let raw = parsed.range(of: item.pointee.raw)
        if let fault = Self.fault(of: item, parsed, storage) { return count(fault, raw.bounds, in: storage, &outcome) }
        // An item adds at most the length of its unescaped texts, and what is given to it.
        guard storage.count + 16 * Int(raw.count) < Int(UInt32.max) - Self.longestText else {
            return count(.tooManyItems, raw.bounds, in: storage, &outcome)
        }
        var record = EventRecord(
            identity: EventID(high: 0, low: 0), createdAt: receivedAt, id: .absent,
            kind: storage.place(item.pointee.kind, of: parsed))
        record.raw = raw
        rename(&record.kind, &storage)
        setID(of: &record, from: item, parsed, &storage, &outcome)
        if mapsTime {
            if let instant = Self.instant(item.pointee.created_at, of: parsed, &storage) {
                record.createdAt = instant
            } else {
                count(.unusableTime, raw.bounds, in: storage, &outcome)
            }
        }
        record.actor = optional(item.pointee.actor, raw, parsed, &storage, &outcome)
        record.post = optional(item.pointee.post, raw, parsed, &storage, &outcome)
        record.text = optional(item.pointee.text, raw, parsed, &storage, &outcome)
        record.link = optional(item.pointee.link, raw, parsed, &storage, &outcome)
        if record.isLong {
            record.cut(in: storage)
            count(.longText, raw.bounds, in: storage, &outcome)
        }
        records.append(record)
    }

    /// Returns why an item is no event or cannot be used, or nil if all is well.
    private static func fault(
        of item: UnsafePointer<relay_json_item>, _ parsed: ParsedItems, _ storage: [UInt8]
    ) -> DecodeFault? {
        if item.pointee.kind.kind == RELAY_JSON_ABSENT {
            let isComplaint = item.pointee.error.kind != RELAY_JSON_ABSENT && item.pointee.error.kind != RELAY_JSON_NULL
            return isComplaint ? .serverError : .notAnEvent
        }
        guard item.pointee.kind.kind == RELAY_JSON_STRING else { return .badKind }
        switch item.pointee.id.kind {
        case RELAY_JSON_ABSENT, RELAY_JSON_NULL, RELAY_JSON_STRING: return nil
        case RELAY_JSON_NUMBER:
            return isWhole(storage[parsed.range(of: item.pointee.id).bounds]) ? nil : .badID
        default: return .badID
        }
    }

    /// Whether a JSON number is written as a whole one, and the only way to write it.
    private static func isWhole(_ number: ArraySlice<UInt8>) -> Bool {
        !number.elementsEqual("-0".utf8)
            && !number.contains { $0 == UInt8(ascii: ".") || $0 | 0x20 == UInt8(ascii: "e") }
    }

    /// Points `kind` to our name for it, if the format renames it.
    private func rename(_ kind: inout TextRange, _ storage: inout [UInt8]) {
        guard !kinds.isEmpty else { return }
        let name = storage[kind.bounds]
        guard let ours = kinds.first(where: { $0.theirs.elementsEqual(name) })?.ours else { return }
        kind = TextRange(offset: UInt32(storage.count), count: UInt32(ours.count))
        storage.append(contentsOf: ours)
    }

    /// Sets the id from the item, or to a given one.
    private mutating func setID(
        of record: inout EventRecord, from item: UnsafePointer<relay_json_item>, _ parsed: ParsedItems,
        _ storage: inout [UInt8], _ outcome: inout DecodeOutcome
    ) {
        let value = item.pointee.id
        if value.kind == RELAY_JSON_ABSENT || value.kind == RELAY_JSON_NULL || value.count == 0 {
            record.id = ids.next(into: &storage)
            record.hasServerID = false
            if mapsID { count(.missingID, record.raw.bounds, in: storage, &outcome) }
        } else {
            record.id = storage.place(value, of: parsed)
        }
        record.identity = EventID(text: storage.span.bytes.extracting(record.id.bounds))
    }

    /// Returns the range of a field that may be missing; an empty text counts as missing.
    private mutating func optional(
        _ value: relay_json_value, _ raw: TextRange, _ parsed: ParsedItems, _ storage: inout [UInt8],
        _ outcome: inout DecodeOutcome
    ) -> TextRange {
        switch value.kind {
        case RELAY_JSON_STRING, RELAY_JSON_NUMBER:
            return value.count == 0 ? .absent : storage.place(value, of: parsed)
        case RELAY_JSON_ABSENT, RELAY_JSON_NULL:
            return .absent
        default:
            count(.wrongType, raw.bounds, in: storage, &outcome)
            return .absent
        }
    }

    /// Returns the time that a value tells, or nil if it tells none.
    private static func instant(
        _ value: relay_json_value, of parsed: ParsedItems, _ storage: inout [UInt8]
    ) -> Instant? {
        guard value.kind == RELAY_JSON_STRING || value.kind == RELAY_JSON_NUMBER else { return nil }
        let range = storage.place(value, of: parsed)
        let text = storage.span.bytes.extracting(range.bounds)
        return TimestampText.parse(text) ?? UnixTimeText.parse(text)
    }
}

extension [UInt8] {
    /// Returns the range of a value: where it came, or behind all if the text must be unescaped.
    fileprivate mutating func place(_ value: relay_json_value, of parsed: ParsedItems) -> TextRange {
        let range = parsed.range(of: value)
        return value.escaped ? unescape(range) : range
    }

    private mutating func unescape(_ range: TextRange) -> TextRange {
        let offset = count
        append(contentsOf: repeatElement(0, count: Int(range.count)))
        let length = withUnsafeMutableBytes { bytes in
            guard let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return 0 }
            return relay_json_unescape(start + Int(range.offset), Int(range.count), start + offset)
        }
        removeLast(Int(range.count) - length)
        return TextRange(offset: UInt32(offset), count: UInt32(length))
    }
}

extension TextRange {
    @inline(__always) fileprivate var bounds: Range<Int> { Int(offset)..<(Int(offset) + Int(count)) }

    /// Shortens the range to the longest text that is kept, at the beginning of a character's bytes.
    fileprivate mutating func cut(in storage: [UInt8]) {
        guard isPresent, count > EventDecoder.longestText else { return }
        var length = EventDecoder.longestText
        while length > 0, storage[Int(offset) + length] & 0xC0 == 0x80 { length -= 1 }
        count = UInt32(length)
    }
}

extension EventRecord {
    /// Whether a text is longer than is kept.
    fileprivate var isLong: Bool {
        max(id.count, kind.count, actor.count, post.count, text.count, link.count) > EventDecoder.longestText
    }

    fileprivate mutating func cut(in storage: [UInt8]) {
        id.cut(in: storage)
        kind.cut(in: storage)
        actor.cut(in: storage)
        post.cut(in: storage)
        text.cut(in: storage)
        link.cut(in: storage)
    }
}

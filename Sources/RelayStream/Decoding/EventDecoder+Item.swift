internal import CSimdjson
internal import RelayCore

/// An item on its way into a batch: its JSON, and where that was copied to.
private struct CopiedItem {
    /// The item in the message.
    let raw: UnsafeRawBufferPointer
    /// The offset of the item in the message.
    let offset: UInt32
    /// The offset of the copy in the batch's storage.
    let base: UInt32

    /// The item as a range of the storage.
    var range: TextRange { TextRange(offset: base, count: UInt32(raw.count)) }

    /// The bytes of a value in the message.
    func bytes(of value: relay_json_value) -> UnsafeRawBufferPointer {
        let start = Int(value.offset - offset)
        return UnsafeRawBufferPointer(rebasing: raw[start..<(start + Int(value.count))])
    }
}

extension EventDecoder {
    /// Appends the event that `item` is, or counts why it is none.
    mutating func decode(
        _ item: relay_json_item, of text: UnsafeRawBufferPointer, receivedAt: Instant, into batch: inout EventBatch,
        _ outcome: inout DecodeOutcome
    ) {
        let start = Int(item.raw.offset)
        let raw = UnsafeRawBufferPointer(rebasing: text[start..<(start + Int(item.raw.count))])
        if let fault = Self.fault(of: item, raw) { return count(fault, raw, &outcome) }
        // An item takes at most its length, that of its unescaped texts, and what is given to it; offsets have 32 bits.
        guard batch.storage.count + 16 * raw.count < Int(UInt32.max) - Self.longestText else {
            return count(.tooManyItems, raw, &outcome)
        }
        let copy = CopiedItem(raw: raw, offset: item.raw.offset, base: UInt32(batch.storage.count))
        batch.storage.append(contentsOf: raw)

        var record = EventRecord(
            identity: EventID(high: 0, low: 0), createdAt: receivedAt, id: .absent,
            kind: batch.storage.place(item.kind, of: copy))
        rename(&record.kind, &batch.storage)
        setID(of: &record, from: item.id, copy, &batch.storage, &outcome)
        if format.createdAt != nil {
            if let instant = Self.instant(item.created_at, of: copy, &batch.storage) {
                record.createdAt = instant
            } else {
                count(.unusableTime, raw, &outcome)
            }
        }
        record.actor = optional(item.actor, of: copy, &batch.storage, &outcome)
        record.post = optional(item.post, of: copy, &batch.storage, &outcome)
        record.text = optional(item.text, of: copy, &batch.storage, &outcome)
        record.link = optional(item.link, of: copy, &batch.storage, &outcome)
        record.raw = copy.range
        if record.isLong {
            record.cut(in: batch.storage)
            count(.longText, raw, &outcome)
        }
        batch.records.append(record)
    }

    /// Returns why an item is no event or cannot be used, or nil if all is well.
    private static func fault(of item: relay_json_item, _ raw: UnsafeRawBufferPointer) -> DecodeFault? {
        if item.kind.kind == RELAY_JSON_ABSENT {
            let isComplaint = item.error.kind != RELAY_JSON_ABSENT && item.error.kind != RELAY_JSON_NULL
            return isComplaint ? .serverError : .notAnEvent
        }
        guard item.kind.kind == RELAY_JSON_STRING else { return .badKind }
        switch item.id.kind {
        case RELAY_JSON_ABSENT, RELAY_JSON_NULL, RELAY_JSON_STRING: return nil
        case RELAY_JSON_NUMBER:
            let digits = CopiedItem(raw: raw, offset: item.raw.offset, base: 0).bytes(of: item.id)
            return isWhole(digits) ? nil : .badID
        default: return .badID
        }
    }

    /// Whether a JSON number is written as a whole one, and the only way to write it.
    private static func isWhole(_ number: UnsafeRawBufferPointer) -> Bool {
        let isNegativeZero = number.count == 2 && number[0] == UInt8(ascii: "-") && number[1] == UInt8(ascii: "0")
        return !isNegativeZero
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
        of record: inout EventRecord, from value: relay_json_value, _ item: CopiedItem, _ storage: inout [UInt8],
        _ outcome: inout DecodeOutcome
    ) {
        if value.kind == RELAY_JSON_ABSENT || value.kind == RELAY_JSON_NULL || value.count == 0 {
            record.id = ids.next(into: &storage)
            record.hasServerID = false
            if format.mapsID { count(.missingID, item.raw, &outcome) }
        } else {
            record.id = storage.place(value, of: item)
        }
        record.identity = EventID(text: storage.span.bytes.extracting(record.id.bounds))
    }

    /// Returns the range of a field that may be missing; an empty text counts as missing.
    private mutating func optional(
        _ value: relay_json_value, of item: CopiedItem, _ storage: inout [UInt8], _ outcome: inout DecodeOutcome
    ) -> TextRange {
        switch value.kind {
        case RELAY_JSON_STRING, RELAY_JSON_NUMBER:
            return value.count == 0 ? .absent : storage.place(value, of: item)
        case RELAY_JSON_ABSENT, RELAY_JSON_NULL:
            return .absent
        default:
            count(.wrongType, item.raw, &outcome)
            return .absent
        }
    }

    /// Returns the time that a value tells, or nil if it tells none.
    private static func instant(
        _ value: relay_json_value, of item: CopiedItem, _ storage: inout [UInt8]
    ) -> Instant? {
        guard value.kind == RELAY_JSON_STRING || value.kind == RELAY_JSON_NUMBER else { return nil }
        let range = storage.place(value, of: item)
        let text = storage.span.bytes.extracting(range.bounds)
        return TimestampText.parse(text) ?? UnixTimeText.parse(text)
    }
}

extension [UInt8] {
    /// Returns the range of a value: in the copy of the item, or behind it if the text must be unescaped.
    fileprivate mutating func place(_ value: relay_json_value, of item: CopiedItem) -> TextRange {
        guard value.escaped else {
            return TextRange(offset: item.base + (value.offset - item.offset), count: value.count)
        }
        let offset = count
        let escaped = item.bytes(of: value)
        append(contentsOf: repeatElement(0, count: escaped.count))
        let length = withUnsafeMutableBytes { bytes in
            relay_json_unescape(
                escaped.baseAddress?.assumingMemoryBound(to: UInt8.self), escaped.count,
                bytes.baseAddress?.advanced(by: offset).assumingMemoryBound(to: UInt8.self))
        }
        removeLast(escaped.count - length)
        return TextRange(offset: UInt32(offset), count: UInt32(length))
    }
}

extension TextRange {
    fileprivate var bounds: Range<Int> { Int(offset)..<(Int(offset) + Int(count)) }

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

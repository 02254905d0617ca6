internal import CSimdjson
internal import RelayCore

/// A message that has been copied into a batch's storage.
private struct CopiedMessage {
    /// The message.
    let text: UnsafeRawBufferPointer
    /// The offset of the copy in the storage.
    let base: UInt32

    /// The bytes of a value in the message.
    func bytes(of value: relay_json_value) -> UnsafeRawBufferPointer {
        let start = Int(value.offset)
        return UnsafeRawBufferPointer(rebasing: text[start..<(start + Int(value.count))])
    }

    /// The place of a value in the copy.
    func range(of value: relay_json_value) -> TextRange {
        TextRange(offset: base + value.offset, count: value.count)
    }
}

extension EventDecoder {
    /// Appends the events that `items` are, or counts why they are none.
    mutating func decode(
        _ items: UnsafeBufferPointer<relay_json_item>, of text: UnsafeRawBufferPointer, _ receivedAt: Instant,
        _ batch: inout EventBatch, _ outcome: inout DecodeOutcome
    ) {
        // Offsets have 32 bits.
        guard batch.storage.count + text.count < Int(UInt32.max) else { return count(.noMemory, text, &outcome) }
        let copy = CopiedMessage(text: text, base: UInt32(batch.storage.count))
        batch.storage.append(contentsOf: text)
        // By pointer: an item is 144 bytes, which the parser has just written, and copying those stalls.
        for index in items.indices {
            guard let item = items.baseAddress?.advanced(by: index) else { return }
            decode(item, of: copy, receivedAt, &batch, &outcome)
        }
    }

    private mutating func decode(
        _ item: UnsafePointer<relay_json_item>, of copy: CopiedMessage, _ receivedAt: Instant,
        _ batch: inout EventBatch,
        _ outcome: inout DecodeOutcome
    ) {
        if let fault = Self.fault(of: item, copy) { return count(fault, copy.bytes(of: item.pointee.raw), &outcome) }
        // An item adds at most the length of its unescaped texts, and what is given to it.
        guard batch.storage.count + 16 * Int(item.pointee.raw.count) < Int(UInt32.max) - Self.longestText else {
            return count(.tooManyItems, copy.bytes(of: item.pointee.raw), &outcome)
        }
        var record = EventRecord(
            identity: EventID(high: 0, low: 0), createdAt: receivedAt, id: .absent,
            kind: batch.storage.place(item.pointee.kind, of: copy))
        rename(&record.kind, &batch.storage)
        setID(of: &record, from: item, copy, &batch.storage, &outcome)
        if mapsTime {
            if let instant = Self.instant(item.pointee.created_at, of: copy, &batch.storage) {
                record.createdAt = instant
            } else {
                count(.unusableTime, copy.bytes(of: item.pointee.raw), &outcome)
            }
        }
        record.actor = optional(item.pointee.actor, of: item, copy, &batch.storage, &outcome)
        record.post = optional(item.pointee.post, of: item, copy, &batch.storage, &outcome)
        record.text = optional(item.pointee.text, of: item, copy, &batch.storage, &outcome)
        record.link = optional(item.pointee.link, of: item, copy, &batch.storage, &outcome)
        record.raw = copy.range(of: item.pointee.raw)
        if record.isLong {
            record.cut(in: batch.storage)
            count(.longText, copy.bytes(of: item.pointee.raw), &outcome)
        }
        batch.records.append(record)
    }

    /// Returns why an item is no event or cannot be used, or nil if all is well.
    private static func fault(of item: UnsafePointer<relay_json_item>, _ copy: CopiedMessage) -> DecodeFault? {
        if item.pointee.kind.kind == RELAY_JSON_ABSENT {
            let isComplaint = item.pointee.error.kind != RELAY_JSON_ABSENT && item.pointee.error.kind != RELAY_JSON_NULL
            return isComplaint ? .serverError : .notAnEvent
        }
        guard item.pointee.kind.kind == RELAY_JSON_STRING else { return .badKind }
        switch item.pointee.id.kind {
        case RELAY_JSON_ABSENT, RELAY_JSON_NULL, RELAY_JSON_STRING: return nil
        case RELAY_JSON_NUMBER:
            return isWhole(copy.bytes(of: item.pointee.id)) ? nil : .badID
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
        of record: inout EventRecord, from item: UnsafePointer<relay_json_item>, _ copy: CopiedMessage,
        _ storage: inout [UInt8],
        _ outcome: inout DecodeOutcome
    ) {
        let value = item.pointee.id
        if value.kind == RELAY_JSON_ABSENT || value.kind == RELAY_JSON_NULL || value.count == 0 {
            record.id = ids.next(into: &storage)
            record.hasServerID = false
            if mapsID { count(.missingID, copy.bytes(of: item.pointee.raw), &outcome) }
        } else {
            record.id = storage.place(value, of: copy)
        }
        record.identity = EventID(text: storage.span.bytes.extracting(record.id.bounds))
    }

    /// Returns the range of a field that may be missing; an empty text counts as missing.
    private mutating func optional(
        _ value: relay_json_value, of item: UnsafePointer<relay_json_item>, _ copy: CopiedMessage,
        _ storage: inout [UInt8],
        _ outcome: inout DecodeOutcome
    ) -> TextRange {
        switch value.kind {
        case RELAY_JSON_STRING, RELAY_JSON_NUMBER:
            return value.count == 0 ? .absent : storage.place(value, of: copy)
        case RELAY_JSON_ABSENT, RELAY_JSON_NULL:
            return .absent
        default:
            count(.wrongType, copy.bytes(of: item.pointee.raw), &outcome)
            return .absent
        }
    }

    /// Returns the time that a value tells, or nil if it tells none.
    private static func instant(
        _ value: relay_json_value, of copy: CopiedMessage, _ storage: inout [UInt8]
    ) -> Instant? {
        guard value.kind == RELAY_JSON_STRING || value.kind == RELAY_JSON_NUMBER else { return nil }
        let range = storage.place(value, of: copy)
        let text = storage.span.bytes.extracting(range.bounds)
        return TimestampText.parse(text) ?? UnixTimeText.parse(text)
    }
}

extension [UInt8] {
    /// Returns the range of a value: in the copy of the message, or behind it if the text must be unescaped.
    @inline(__always)
    fileprivate mutating func place(_ value: relay_json_value, of copy: CopiedMessage) -> TextRange {
        value.escaped ? unescape(value, of: copy) : copy.range(of: value)
    }

    @inline(never)
    private mutating func unescape(_ value: relay_json_value, of copy: CopiedMessage) -> TextRange {
        let offset = count
        let escaped = copy.bytes(of: value)
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

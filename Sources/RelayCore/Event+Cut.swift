extension Event {
    /// Returns the event with at most `limit` bytes of text in all, over a storage of its own.
    ///
    /// Texts are cut between scalars, the long text of a comment last in line; a link, and the item as it came, are
    /// kept whole or not at all, since a part of them says something else.
    package func cut(to limit: Int, keepsRaw: Bool) -> Event {
        var bytes: [UInt8] = []
        var copy = record
        func keep(_ field: WritableKeyPath<EventRecord, TextRange>, whole: Bool) {
            let range = record[keyPath: field]
            guard range.isPresent else { return }
            let start = Int(range.offset)
            var end = start + min(Int(range.count), limit - bytes.count)
            if end < start + Int(range.count) {
                guard !whole else { return copy[keyPath: field] = .absent }
                while end > start, storage[end] & 0b1100_0000 == 0b1000_0000 { end -= 1 }
            }
            copy[keyPath: field] = TextRange(offset: UInt32(bytes.count), count: UInt32(end - start))
            bytes.append(contentsOf: storage[start..<end])
        }
        for field in [\EventRecord.id, \.kind, \.actor, \.post] { keep(field, whole: false) }
        keep(\.link, whole: true)
        if keepsRaw { keep(\.raw, whole: true) } else { copy.raw = .absent }
        keep(\.text, whole: false)
        return Event(storage: bytes, record: copy, stream: stream)
    }
}

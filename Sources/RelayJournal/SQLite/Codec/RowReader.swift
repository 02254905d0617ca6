internal import RelayCore

/// Reads a value that `RowWriter` wrote, from bytes that may be damaged: whatever they are, it reads or it throws.
struct RowReader {
    private let bytes: [UInt8]
    private let end: Int
    private var offset = 1

    /// The largest number of things that a row can tell of.
    private static let mostThings: UInt64 = 1 << 50

    /// Reads one value.
    static func decode<Value: StoredValue>(_: Value.Type, _ bytes: [UInt8]) throws(DamagedRow) -> Value {
        var reader = try RowReader(bytes)
        let value = try Value(from: &reader)
        guard reader.offset == reader.end else { throw DamagedRow() }
        return value
    }

    /// Begins to read; version and checksum must be right.
    private init(_ bytes: [UInt8]) throws(DamagedRow) {
        guard bytes.count >= 5, bytes[0] == RowWriter.version else { throw DamagedRow() }
        self.bytes = bytes
        end = bytes.count - 4
        let checksum = bytes[end...].reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        guard RowChecksum.of(bytes.span.bytes.extracting(0..<end)) == checksum else { throw DamagedRow() }
    }

    mutating func byte() throws(DamagedRow) -> UInt8 {
        guard offset < end else { throw DamagedRow() }
        defer { offset += 1 }
        return bytes[offset]
    }

    mutating func bool() throws(DamagedRow) -> Bool {
        switch try byte() {
        case 0: false
        case 1: true
        default: throw DamagedRow()
        }
    }

    mutating func unsigned() throws(DamagedRow) -> UInt64 {
        var number: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 70, by: 7) {
            let byte = try byte()
            // The tenth byte has one bit of the number.
            guard shift < 63 || byte <= 1 else { throw DamagedRow() }
            number |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return number }
        }
        throw DamagedRow()
    }

    mutating func signed() throws(DamagedRow) -> Int64 {
        let number = try unsigned()
        return Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1)
    }

    /// Reads how many there are of something.
    mutating func count() throws(DamagedRow) -> Int {
        let number = try unsigned()
        guard number <= Self.mostThings else { throw DamagedRow() }
        return Int(number)
    }

    /// Reads the count of a list, of which each element takes a byte at least.
    private mutating func listCount() throws(DamagedRow) -> Int {
        let count = try count()
        guard count <= end - offset else { throw DamagedRow() }
        return count
    }

    mutating func instant() throws(DamagedRow) -> Instant { Instant(milliseconds: try signed()) }

    /// Reads a duration, which is not negative.
    mutating func duration() throws(DamagedRow) -> Duration {
        let milliseconds = try signed()
        guard milliseconds >= 0 else { throw DamagedRow() }
        return .milliseconds(milliseconds)
    }

    /// Reads the bytes of a text, which must be UTF-8.
    mutating func utf8() throws(DamagedRow) -> ArraySlice<UInt8> {
        let count = try listCount()
        let range = offset..<(offset + count)
        do { _ = try UTF8Span(validating: bytes.span.extracting(range)) } catch { throw DamagedRow() }
        offset += count
        return bytes[range]
    }

    mutating func text() throws(DamagedRow) -> String { String(decoding: try utf8(), as: UTF8.self) }

    mutating func untrusted() throws(DamagedRow) -> UntrustedText { UntrustedText(utf8: Array(try utf8())) }

    mutating func word() throws(DamagedRow) -> UInt64 {
        var word: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 8) { word |= UInt64(try byte()) << shift }
        return word
    }

    mutating func key() throws(DamagedRow) -> EffectKey { EffectKey(high: try word(), low: try word()) }

    mutating func eventID() throws(DamagedRow) -> EventID { EventID(high: try word(), low: try word()) }

    mutating func value<Value: StoredValue>(_: Value.Type) throws(DamagedRow) -> Value { try Value(from: &self) }

    /// Reads a value that may be absent.
    mutating func optional<Value>(
        _ read: (inout RowReader) throws(DamagedRow) -> Value
    ) throws(DamagedRow) -> Value? {
        try bool() ? try read(&self) : nil
    }

    /// Reads a list.
    mutating func list<Element>(
        _ read: (inout RowReader) throws(DamagedRow) -> Element
    ) throws(DamagedRow) -> [Element] {
        let count = try listCount()
        var elements: [Element] = []
        for _ in 0..<count { elements.append(try read(&self)) }
        return elements
    }

    /// Reads a case by its word.
    mutating func word<Case: RawRepresentable<String>>(of _: Case.Type) throws(DamagedRow) -> Case {
        guard let value = Case(rawValue: try text()) else { throw DamagedRow() }
        return value
    }
}

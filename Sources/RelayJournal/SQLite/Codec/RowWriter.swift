internal import RelayCore

/// Writes a value as the bytes of a row: the same bytes for the same value.
///
/// Numbers are written in groups of seven bits, texts and lists with their count before them. In front stands the
/// version of the format, at the end a checksum.
struct RowWriter {
    /// The version of the format.
    static let version: UInt8 = 1

    private(set) var bytes: [UInt8] = []

    /// Begins a value of at least so many bytes.
    init(capacity: Int = 64) {
        bytes.reserveCapacity(capacity)
        bytes.append(Self.version)
    }

    /// Returns the bytes of one value.
    static func encode(_ value: some StoredValue) -> [UInt8] {
        var writer = RowWriter(capacity: value.expectedBytes)
        value.write(to: &writer)
        return writer.sealed()
    }

    /// Ends the value with its checksum and returns all bytes.
    consuming func sealed() -> [UInt8] {
        var checksum = RowChecksum.of(bytes.span.bytes)
        for _ in 0..<4 {
            bytes.append(UInt8(truncatingIfNeeded: checksum))
            checksum >>= 8
        }
        return bytes
    }

    mutating func write(_ byte: UInt8) {
        bytes.append(byte)
    }

    mutating func write(_ flag: Bool) {
        bytes.append(flag ? 1 : 0)
    }

    mutating func write(_ number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    /// Writes a number that is mostly small, of either sign.
    mutating func write(_ number: Int64) {
        write(UInt64(bitPattern: number << 1 ^ number >> 63))
    }

    mutating func write(count: Int) {
        write(UInt64(clamping: count))
    }

    mutating func write(_ instant: Instant) {
        write(instant.milliseconds)
    }

    mutating func write(_ duration: Duration) {
        write(duration.wholeMilliseconds)
    }

    mutating func write(_ text: String) {
        write(count: text.utf8.count)
        bytes.append(contentsOf: text.utf8)
    }

    mutating func write(_ text: UntrustedText) {
        write(count: text.utf8.count)
        bytes.append(contentsOf: text.utf8)
    }

    /// Writes a number that is as often large as small.
    mutating func write(word: UInt64) {
        for shift in stride(from: 0, to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: word >> shift)) }
    }

    mutating func write(_ key: EffectKey) {
        write(word: key.high)
        write(word: key.low)
    }

    mutating func write(_ id: EventID) {
        write(word: id.high)
        write(word: id.low)
    }

    /// Writes a part of an event's storage.
    mutating func write(_ storage: ArraySlice<UInt8>) {
        write(count: storage.count)
        bytes.append(contentsOf: storage)
    }

    mutating func write(_ value: some StoredValue) {
        value.write(to: &self)
    }

    /// Writes a value that may be absent.
    mutating func write<Value>(optional value: Value?, _ write: (inout RowWriter, Value) -> Void) {
        self.write(value != nil)
        if let value { write(&self, value) }
    }

    /// Writes a list.
    mutating func write<Element>(list: some Collection<Element>, _ write: (inout RowWriter, Element) -> Void) {
        self.write(count: list.count)
        for element in list { write(&self, element) }
    }

    /// Writes a case by its word.
    mutating func write<Case: RawRepresentable<String>>(word value: Case) {
        write(value.rawValue)
    }
}

/// A value that a row holds.
protocol StoredValue {
    /// Writes the value.
    func write(to writer: inout RowWriter)
    /// Reads a value, of which nothing is trusted.
    init(from reader: inout RowReader) throws(DamagedRow)
    /// About how many bytes it takes.
    var expectedBytes: Int { get }
}

extension StoredValue {
    var expectedBytes: Int { 64 }
}

/// A row whose bytes are no value.
struct DamagedRow: Error, Equatable {}

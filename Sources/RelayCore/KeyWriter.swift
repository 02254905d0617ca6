internal import GLibRuntime

/// Writes the fields of a key, each with its length before it, so that no crafted text can make two keys equal.
struct KeyWriter {
    private var bytes: [UInt8] = []

    /// Begins a key with a word that says what it is of.
    init(_ word: String) {
        bytes.reserveCapacity(128)
        append(word.utf8)
    }

    /// Appends a field.
    mutating func append(_ field: some Collection<UInt8>) {
        withUnsafeBytes(of: UInt32(truncatingIfNeeded: field.count).bigEndian) { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: field)
    }

    /// Appends a number as a field of eight bytes.
    mutating func append(_ number: UInt64) {
        withUnsafeBytes(of: number.littleEndian) { append($0) }
    }

    /// Appends a field that is not there, which differs from one that is empty.
    mutating func appendAbsent() {
        withUnsafeBytes(of: UInt32.max) { bytes.append(contentsOf: $0) }
    }

    /// Returns the SHA-256 of all fields.
    func hash() -> [UInt8] { Checksum.sha256(bytes) }
}

/// Turns offsets into lines and columns, counting on from the last one that was asked for.
struct PlaceCounter {
    private var offset: Int
    private let first: Int
    private var place = Position(line: 1, column: 1)

    /// Begins to count at the byte `first`, which is line 1, column 1.
    init(from first: Int = 0) {
        self.first = first
        offset = first
    }

    /// Returns the place of the byte at `index`. A line ends with LF, CR or CR LF; columns count Unicode scalars.
    mutating func position(of index: Int, in bytes: [UInt8]) -> Position {
        if index < offset {
            offset = first
            place = Position(line: 1, column: 1)
        }
        while offset < index, offset < bytes.count {
            let byte = bytes[offset]
            offset += 1
            if byte == UInt8(ascii: "\n") || (byte == UInt8(ascii: "\r") && !isLineFeed(at: offset, in: bytes)) {
                place.line += 1
                place.column = 1
            } else if byte & 0xC0 != 0x80 {
                place.column += 1
            }
        }
        return place
    }

    private func isLineFeed(at index: Int, in bytes: [UInt8]) -> Bool {
        index < bytes.count && bytes[index] == UInt8(ascii: "\n")
    }
}

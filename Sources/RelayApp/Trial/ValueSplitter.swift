/// Splits bytes that come in pieces into JSON values: one a line, one after the other, or the elements of one array.
///
/// It only finds where values end; whether they are JSON is the decoder's to say. After a fault it goes on with the next
/// line that begins with `{`.
struct ValueSplitter {
    /// A value, or what should have been one.
    struct Value: Equatable {
        /// Where it lies in `bytes`.
        var place: Range<Int>
        /// The line on which it begins, from 1.
        var line: Int
        /// What is wrong with it, if its end could not be found.
        var fault: Fault?
    }

    /// Why the end of a value was not found.
    enum Fault: Equatable {
        case unclosed, tooLong
    }

    /// The longest value: the longest message that a stream takes by default.
    static let longest = 1 << 20

    private enum State {
        /// Between values.
        case between
        /// In an object or an array.
        case nested
        /// In a string of one.
        case string
        /// Behind a backslash in a string.
        case escape
        /// In something that is neither an object nor an array.
        case other
        /// In the rest of a line after something too long.
        case skipping
    }

    /// The bytes that are not done with.
    private(set) var bytes: [UInt8] = []
    private let opensArrays: Bool
    private var state = State.between
    private var index = 0
    private var start = 0
    private var depth = 0
    /// The line of what comes next, from 1.
    private(set) var line = 1
    private var firstLine = 1
    private var isLineStart = true
    private var isFresh = true
    /// Whether an array at the top has not ended.
    private(set) var isInArray = false

    /// Creates a splitter; with `opensArrays` an array at the top is read as the values in it.
    init(opensArrays: Bool) {
        self.opensArrays = opensArrays
    }

    /// Adds the next bytes; places given before are not valid any more.
    mutating func append(_ more: some Collection<UInt8>) {
        defer { skipMark() }
        let done = state == .between || state == .skipping ? index : start
        bytes.removeSubrange(..<done)
        index -= done
        start -= done
        bytes.append(contentsOf: more)
    }

    /// Returns the next value, or nil if more bytes are needed.
    mutating func next() -> Value? {
        while index < bytes.count {
            switch state {
            case .between: stepBetween()
            case .nested: if let value = stepNested() { return value }
            case .string: if let value = stepString() { return value }
            case .escape: stepEscape()
            case .other: if let value = stepOther() { return value }
            case .skipping: stepSkipping()
            }
        }
        return nil
    }

    /// Returns what is left when no more bytes come.
    mutating func last() -> Value? {
        guard state != .between, state != .skipping else { return nil }
        return end(at: bytes.count, state == .other ? nil : .unclosed)
    }

    /// Steps over a byte-order mark at the very beginning.
    private mutating func skipMark() {
        if isFresh, bytes.starts(with: [0xEF, 0xBB, 0xBF]) { index = 3 }
        isFresh = false
    }

    private mutating func stepBetween() {
        let byte = bytes[index]
        switch byte {
        case UInt8(ascii: "\n"): endLine()
        case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"): index += 1
        case UInt8(ascii: ",") where isInArray: index += 1
        case UInt8(ascii: "]") where isInArray:
            isInArray = false
            index += 1
        case UInt8(ascii: "[") where opensArrays && !isInArray:
            isInArray = true
            index += 1
        default:
            start = index
            firstLine = line
            depth = 0
            isLineStart = false
            state = byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") ? .nested : .other
        }
    }

    private mutating func stepNested() -> Value? {
        let byte = bytes[index]
        if isLineStart {
            // No event has a line break before an object of its own that stands at the very beginning of a line.
            if byte == UInt8(ascii: "{"), depth > 0 { return end(at: index, .unclosed) }
            isLineStart = false
        }
        index += 1
        switch byte {
        case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            depth -= 1
            if depth == 0 { return end(at: index) }
        case UInt8(ascii: "\""): state = .string
        case UInt8(ascii: "\n"):
            line += 1
            isLineStart = true
        default: break
        }
        return index - start > Self.longest ? cut() : nil
    }

    private mutating func stepString() -> Value? {
        index =
            bytes[index...].firstIndex { byte in
                byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte == UInt8(ascii: "\n")
            } ?? bytes.count
        if index - start > Self.longest { return cut() }
        guard index < bytes.count else { return nil }
        switch bytes[index] {
        case UInt8(ascii: "\n"): return end(at: index, .unclosed)
        case UInt8(ascii: "\\"): state = .escape
        default: state = .nested
        }
        index += 1
        return nil
    }

    private mutating func stepEscape() {
        if bytes[index] != UInt8(ascii: "\n") { index += 1 }
        state = .string
    }

    private mutating func stepOther() -> Value? {
        let byte = bytes[index]
        let isEnd = isInArray && (byte == UInt8(ascii: ",") || byte == UInt8(ascii: "]"))
        if byte == UInt8(ascii: "\n") || isEnd { return end(at: index) }
        index += 1
        return index - start > Self.longest ? cut() : nil
    }

    private mutating func stepSkipping() {
        if bytes[index] == UInt8(ascii: "\n") {
            state = .between
        } else {
            index += 1
        }
    }

    private mutating func endLine() {
        line += 1
        isLineStart = true
        index += 1
    }

    private mutating func end(at place: Int, _ fault: Fault? = nil) -> Value {
        index = place
        state = .between
        return Value(place: start..<place, line: firstLine, fault: fault)
    }

    private mutating func cut() -> Value {
        state = .skipping
        return Value(place: start..<index, line: firstLine, fault: .tooLong)
    }
}

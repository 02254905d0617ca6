/// Cleans the text of strangers once, before any sink encodes it.
///
/// Removed are control characters, characters that show nothing, direction controls, and more than four marks on
/// one base. What is left is ordinary text; its length is cut by the sink, which knows its unit.
package enum TextCleaning {
    /// What becomes of line breaks.
    package enum Layout: Sendable {
        /// One line: each break is a space.
        case line
        /// Several lines: at most one blank line in a row and six lines in all; later breaks are spaces.
        case block
    }

    /// The most marks kept on one base character; no script needs more, and stacks of hundreds hang displays.
    package static let mostMarks = 4
    /// The most lines of a block.
    package static let mostLines = 6

    /// Appends `text`, cleaned. Printable ASCII is copied as it is.
    package static func append(_ text: RawSpan, to bytes: inout [UInt8], as layout: Layout = .line) {
        if isPrintableASCII(text) {
            text.withUnsafeBytes { bytes.append(contentsOf: $0) }
            return
        }
        var cleaner = TextCleaner(layout: layout)
        let scalars = Array(text.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }.unicodeScalars)
        for index in scalars.indices {
            let next = index + 1 < scalars.count ? scalars[index + 1] : nil
            cleaner.append(scalars[index], before: next, to: &bytes)
        }
    }

    /// Returns `text`, cleaned, for text that is not on the hot path.
    package static func clean(_ text: String, as layout: Layout = .line) -> String {
        var bytes: [UInt8] = []
        let input = Array(text.utf8)
        append(input.span.bytes, to: &bytes, as: layout)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Whether all bytes are from 0x20 to 0x7E, tested eight at a time.
    static func isPrintableASCII(_ text: RawSpan) -> Bool {
        let count = text.byteCount
        guard count >= 8 else {
            for index in 0..<count where !(0x20..<0x7F).contains(text.byte(index)) { return false }
            return true
        }
        var odd: UInt64 = 0
        var index = 0
        while index + 8 <= count {
            odd |= unprintable(text.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self))
            index += 8
        }
        // The last eight bytes overlap the ones before: cheaper than a loop over the rest.
        odd |= unprintable(text.unsafeLoadUnaligned(fromByteOffset: count - 8, as: UInt64.self))
        return odd == 0
    }

    /// Returns a word with the high bit set in each byte that is not printable ASCII.
    @inline(__always) private static func unprintable(_ word: UInt64) -> UInt64 {
        let high: UInt64 = 0x8080_8080_8080_8080
        let ones: UInt64 = 0x0101_0101_0101_0101
        let low = word & ~high
        let isControl = ~(low &+ ones &* (0x80 - 0x20))
        let isDelete = low &+ ones
        return (word | isControl | isDelete) & high
    }
}

/// The state of cleaning one text, scalar by scalar.
private struct TextCleaner {
    let layout: TextCleaning.Layout
    private var previous: Unicode.Scalar?
    private var marks = 0
    private var lines = 1
    private var pendingBreaks = 0
    private var isAfterReturn = false
    private var hasText = false

    init(layout: TextCleaning.Layout) {
        self.layout = layout
    }

    mutating func append(_ scalar: Unicode.Scalar, before next: Unicode.Scalar?, to bytes: inout [UInt8]) {
        let isSecondHalf = scalar == "\n" && isAfterReturn
        isAfterReturn = scalar == "\r"
        switch TextClass(scalar) {
        case .lineBreak:
            if !isSecondHalf { pendingBreaks += 1 }
        case .blank: emit(" ", to: &bytes)
        case .removed: break
        case .joiner:
            if let previous, let next, TextClass.joins(previous, scalar, next) { emit(scalar, to: &bytes) }
        case .mark:
            guard marks < TextCleaning.mostMarks else { return }
            marks += 1
            emit(scalar, to: &bytes)
        case .ordinary:
            marks = 0
            emit(scalar, to: &bytes)
        }
    }

    private mutating func emit(_ scalar: Unicode.Scalar, to bytes: inout [UInt8]) {
        emitBreaks(to: &bytes)
        hasText = true
        previous = scalar
        bytes.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
    }

    /// Writes the breaks since the last text, of which those at the start and the end of the text never come here.
    private mutating func emitBreaks(to bytes: inout [UInt8]) {
        defer { pendingBreaks = 0 }
        guard pendingBreaks > 0, hasText else { return }
        let breaks = min(pendingBreaks, 2)
        if layout == .block, lines + breaks <= TextCleaning.mostLines {
            lines += breaks
            for _ in 0..<breaks { bytes.append(UInt8(ascii: "\n")) }
        } else {
            bytes.append(UInt8(ascii: " "))
        }
        previous = nil
        marks = 0
    }
}

/// What cleaning does with a scalar.
private enum TextClass {
    case ordinary, mark, joiner, lineBreak, blank, removed

    init(_ scalar: Unicode.Scalar) {
        if (0x20..<0x7F).contains(scalar.value) {
            self = .ordinary
            return
        }
        switch scalar.value {
        case 0x0A...0x0D, 0x85, 0x2028, 0x2029: self = .lineBreak
        case 0x09: self = .blank
        case 0x200C, 0x200D: self = .joiner
        // Variation selectors count as marks: one is part of many emoji, a thousand are not.
        case 0xFE00...0xFE0F, 0x180B...0x180D, 0xE0100...0xE01EF: self = .mark
        // The signs that Arabic and Syriac write around numbers are of the category `format` and show.
        case 0x0600...0x0605, 0x06DD, 0x070F, 0x0890, 0x0891, 0x08E2: self = .ordinary
        default: self = Self.byProperties(scalar.properties)
        }
    }

    private static func byProperties(_ properties: Unicode.Scalar.Properties) -> TextClass {
        if properties.isDefaultIgnorableCodePoint || properties.isNoncharacterCodePoint { return .removed }
        return switch properties.generalCategory {
        case .control, .format, .surrogate: .removed
        case .nonspacingMark, .enclosingMark, .spacingMark: .mark
        default: .ordinary
        }
    }

    /// Whether a joiner between two scalars belongs to an emoji sequence, or to a script that writes with joiners.
    static func joins(_ left: Unicode.Scalar, _ joiner: Unicode.Scalar, _ right: Unicode.Scalar) -> Bool {
        if needsJoiners(left), needsJoiners(right) { return true }
        return joiner == "\u{200D}" && isEmojiPart(left) && isEmojiPart(right)
    }

    private static func isEmojiPart(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value == 0xFE0F || (scalar.value >= 0x2190 && scalar.properties.isEmoji)
    }

    /// Arabic to Myanmar, and Khmer.
    private static func needsJoiners(_ scalar: Unicode.Scalar) -> Bool {
        (0x0600...0x109F).contains(scalar.value) || (0x1780...0x17FF).contains(scalar.value)
    }
}

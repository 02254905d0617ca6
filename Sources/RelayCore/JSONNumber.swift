/// A number of JSON text (RFC 8259, section 6), compared exactly as a decimal.
///
/// Ids of 19 digits and amounts such as `0.1` keep all their digits, which a `Double` would round.
package struct JSONNumber: Sendable, Comparable {
    private let isNegative: Bool
    /// The digits without zeros at either end; none for zero.
    private let digits: [UInt8]
    /// How many of the digits, or of zeros before or after them, stand before the point.
    private let magnitude: Int

    /// Creates a number from text that is known to be one.
    package init(_ text: RawSpan) {
        var index = 0
        var digits: [UInt8] = []
        var magnitude = 0
        var isAfterPoint = false
        var exponent = 0
        var isNegative = false
        while index < text.byteCount {
            let byte = text.byte(index)
            index += 1
            switch byte {
            case UInt8(ascii: "-"): isNegative = true
            case UInt8(ascii: "."): isAfterPoint = true
            case UInt8(ascii: "e"), UInt8(ascii: "E"):
                exponent = Self.exponent(text, &index)
            case UInt8(ascii: "0") where digits.isEmpty: if isAfterPoint { magnitude -= 1 }
            default:
                digits.append(byte)
                if !isAfterPoint { magnitude += 1 }
            }
        }
        while digits.last == UInt8(ascii: "0") { digits.removeLast() }
        self.digits = digits
        self.isNegative = isNegative && !digits.isEmpty
        self.magnitude = digits.isEmpty ? 0 : magnitude + exponent
    }

    /// Creates a number from text that is known to be one.
    package init(_ text: String) {
        self.init(Array(text.utf8).span.bytes)
    }

    /// Reads the exponent at the index; beyond 9 digits it is as good as that many.
    private static func exponent(_ text: RawSpan, _ index: inout Int) -> Int {
        var value = 0
        var isNegative = false
        while index < text.byteCount {
            let byte = text.byte(index)
            index += 1
            switch byte {
            case UInt8(ascii: "-"): isNegative = true
            case UInt8(ascii: "+"): break
            default: value = min(value * 10 + Int(byte) - 48, 1_000_000_000)
            }
        }
        return isNegative ? -value : value
    }

    package static func < (left: JSONNumber, right: JSONNumber) -> Bool {
        guard left.isNegative == right.isNegative else { return left.isNegative }
        return left.isNegative ? right.isSmaller(than: left) : left.isSmaller(than: right)
    }

    /// Compares without the signs.
    private func isSmaller(than other: JSONNumber) -> Bool {
        if digits.isEmpty || other.digits.isEmpty { return digits.isEmpty && !other.digits.isEmpty }
        if magnitude != other.magnitude { return magnitude < other.magnitude }
        return digits.lexicographicallyPrecedes(other.digits)
    }
}

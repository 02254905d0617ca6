/// A set of names with a number each, looked up in bytes without making a string.
///
/// Open addressing over the names' 64-bit words, which are folded eight ASCII letters at a time while they are
/// hashed. Only the file puts names in, so a stranger cannot make look-ups long and the hash needs no secret.
struct NameTable: Sendable {
    /// What a look-up found.
    enum Lookup: Equatable, BitwiseCopyable {
        case found(Int)
        case absent
        /// The name is not ASCII: fold it as text and look the result up without folding.
        case needsFolding
    }

    private struct Slot: BitwiseCopyable {
        var word: UInt32 = 0
        var byteCount: UInt32 = 0
        var number: UInt32 = 0
    }

    /// A part of the hash for each place, 0 for an empty one: small, so that a name that is not there, as most are not,
    /// is told from the nearest cache.
    private var tags: [UInt32]
    private var slots: [Slot]
    private var words: [UInt64] = []
    private let mask: Int

    /// Creates a table of distinct names, numbered from 0 in their order.
    init(_ names: [[UInt8]]) {
        var size = 4
        while size < names.count * 4 { size *= 2 }
        mask = size - 1
        tags = Array(repeating: 0, count: size)
        slots = Array(repeating: Slot(), count: size)
        for (number, name) in names.enumerated() {
            let span = name.span.bytes
            let hash = Self.hash(span)
            let slot = Slot(word: UInt32(words.count), byteCount: UInt32(name.count), number: UInt32(number))
            for offset in stride(from: 0, to: name.count, by: 8) { words.append(Self.word(span, offset)) }
            var place = Int(truncatingIfNeeded: hash) & mask
            while tags[place] != 0 { place = (place + 1) & mask }
            tags[place] = Self.tag(of: hash)
            slots[place] = slot
        }
    }

    /// Finds a name whose ASCII letters match in any case, or says that it is not ASCII.
    func find(folding name: RawSpan) -> Lookup {
        let count = name.byteCount
        var hash = Self.seed
        var all: UInt64 = 0
        var offset = 0
        while offset < count {
            let word = Self.word(name, offset)
            all |= word
            hash = Self.mix(hash, Self.lowered(word))
            offset += 8
        }
        if all & Self.highBits != 0 { return .needsFolding }
        return find(name, hash) { Self.lowered($0) }
    }

    /// Finds a name that has exactly these bytes.
    func find(exactly name: RawSpan) -> Lookup {
        find(name, Self.hash(name)) { $0 }
    }

    @inline(__always)
    private func find(_ name: RawSpan, _ hash: UInt64, _ form: (UInt64) -> UInt64) -> Lookup {
        let tag = Self.tag(of: hash)
        var place = Int(truncatingIfNeeded: hash) & mask
        while tags[place] != 0 {
            if tags[place] == tag {
                let slot = slots[place]
                if Int(slot.byteCount) == name.byteCount, isEqual(name, to: slot, form) {
                    return .found(Int(slot.number))
                }
            }
            place = (place + 1) & mask
        }
        return .absent
    }

    @inline(__always)
    private func isEqual(_ name: RawSpan, to slot: Slot, _ form: (UInt64) -> UInt64) -> Bool {
        var word = Int(slot.word)
        var offset = 0
        while offset < name.byteCount {
            if words[word] != form(Self.word(name, offset)) { return false }
            word += 1
            offset += 8
        }
        return true
    }
}

extension NameTable {
    private static var seed: UInt64 { 0x2545_F491_4F6C_DD1D }
    private static var highBits: UInt64 { 0x8080_8080_8080_8080 }

    /// Hashes the words of a name.
    @inline(__always) private static func hash(_ name: RawSpan) -> UInt64 {
        var hash = seed
        var offset = 0
        while offset < name.byteCount {
            hash = mix(hash, word(name, offset))
            offset += 8
        }
        return hash
    }

    /// Returns the part of a hash that stands for it; never 0, which marks an empty place.
    @inline(__always) private static func tag(of hash: UInt64) -> UInt32 {
        UInt32(truncatingIfNeeded: hash >> 32) | 1
    }

    @inline(__always) private static func mix(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let product = (left ^ right).multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
        return product.high ^ product.low
    }

    /// Returns a word of ASCII bytes with its capitals made small.
    @inline(__always) private static func lowered(_ word: UInt64) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let capitals = (word &+ ones &* (0x80 - 0x41)) & ~(word &+ ones &* (0x80 - 0x5B)) & highBits
        return word | capitals >> 2
    }

    /// Returns the eight bytes from `offset`, or the last eight, or fewer filled up with zeros.
    ///
    /// The last word overlaps the one before it: no branch depends on the length of most names.
    @inline(__always) private static func word(_ name: RawSpan, _ offset: Int) -> UInt64 {
        let count = name.byteCount
        if count >= 8 { return name.unsafeLoadUnaligned(fromByteOffset: min(offset, count - 8), as: UInt64.self) }
        if count >= 4 {
            let low = UInt64(name.unsafeLoadUnaligned(fromByteOffset: 0, as: UInt32.self))
            let high = UInt64(name.unsafeLoadUnaligned(fromByteOffset: count - 4, as: UInt32.self))
            return low | high << UInt64((count - 4) * 8)
        }
        func byte(_ index: Int) -> UInt64 { UInt64(name.unsafeLoad(fromByteOffset: index, as: UInt8.self)) }
        return byte(0) | byte(count / 2) << UInt64(count / 2 * 8) | byte(count - 1) << UInt64((count - 1) * 8)
    }
}

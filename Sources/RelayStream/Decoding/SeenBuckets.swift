/// Eight ids whose hashes end alike, newest first, as they are found in `SeenEvents`.
struct SeenBucket: BitwiseCopyable {
    // A tag is the upper half of a hash; the number says which id it is. Vectors of four, as all machines have them.
    fileprivate var tags: (SIMD4<UInt32>, SIMD4<UInt32>)
    fileprivate var numbers: (SIMD4<UInt32>, SIMD4<UInt32>)

    /// The number of the entry that goes next.
    @inline(__always) var oldestNumber: UInt32 { numbers.1[3] }

    /// The tag of an entry, counted from the newest.
    func tag(_ index: Int) -> UInt32 { index < 4 ? tags.0[index] : tags.1[index - 4] }

    /// The number of an entry, counted from the newest.
    func number(_ index: Int) -> UInt32 { index < 4 ? numbers.0[index] : numbers.1[index - 4] }

    /// Whether one of the entries has this tag.
    @inline(__always) func mayHold(_ tag: UInt32) -> Bool {
        // The top bit is set in the words that are equal. The compiler would compare vectors word by word.
        let first = tags.0 ^ SIMD4(repeating: tag)
        let second = tags.1 ^ SIMD4(repeating: tag)
        let equal = (first &- 1) & ~first | (second &- 1) & ~second
        let half = equal.lowHalf | equal.highHalf
        return (half[0] | half[1]) >> 31 != 0
    }

    /// Returns the bucket with an entry more in front, and without the oldest one.
    @inline(__always) func adding(_ number: UInt32, tag: UInt32) -> SeenBucket {
        SeenBucket(tags: Self.shift(tags, in: tag), numbers: Self.shift(numbers, in: number))
    }

    @inline(__always) private static func shift(
        _ words: (SIMD4<UInt32>, SIMD4<UInt32>), in first: UInt32
    ) -> (SIMD4<UInt32>, SIMD4<UInt32>) {
        (
            SIMD4(first, words.0[0], words.0[1], words.0[2]),
            SIMD4(words.0[3], words.1[0], words.1[1], words.1[2])
        )
    }
}

/// An array of buckets, each of which lies in one line of the cache.
struct SeenBuckets: ~Copyable {
    private var words: [SIMD4<UInt32>]
    /// Where the first line of the cache begins, on which nothing but time depends.
    private let first: Int
    /// How many there are, a power of two.
    let count: Int

    private static let wordsPerBucket = 4
    private static let bytesPerLine = 64

    /// Creates empty buckets.
    init(count: Int) {
        self.count = count
        words = Array(repeating: SIMD4(), count: (count + 1) * Self.wordsPerBucket)
        let address = words.withUnsafeBytes { Int(bitPattern: $0.baseAddress) }
        first = (Self.bytesPerLine - address % Self.bytesPerLine) % Self.bytesPerLine / MemoryLayout<SIMD4<UInt32>>.size
    }

    /// Reads a part of a bucket, so that the rest comes into the cache.
    @inline(__always) func load(_ place: Int) -> UInt32 { words[first + place * Self.wordsPerBucket][0] }

    /// The bucket at a place.
    @inline(__always) subscript(place: Int) -> SeenBucket {
        get {
            let start = first + place * Self.wordsPerBucket
            return SeenBucket(
                tags: (words[start], words[start + 1]), numbers: (words[start + 2], words[start + 3]))
        }
        set {
            let start = first + place * Self.wordsPerBucket
            var all = words.mutableSpan
            (all[start], all[start + 1]) = newValue.tags
            (all[start + 2], all[start + 3]) = newValue.numbers
        }
    }
}

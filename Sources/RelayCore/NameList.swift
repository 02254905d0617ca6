/// Names as one reads them out: `ann`, `ann and bo`, `ann, bo and 311 others`.
package enum NameList {
    /// The most names that are said; of more, the first two and a number.
    package static let mostNames = 3

    /// Appends the names of `count` different ones.
    ///
    /// - Parameters:
    ///   - count: how many there are, at least 1.
    ///   - isMinimum: whether there may be more.
    ///   - bytes: where the text goes.
    ///   - name: appends the name at a place below ``mostNames``.
    package static func append(
        _ count: Int, isMinimum: Bool = false, to bytes: inout [UInt8], _ name: (Int, inout [UInt8]) -> Void
    ) {
        let said = count > mostNames || (isMinimum && count > 1) ? min(count, 2) : count
        for place in 0..<said {
            if place > 0 {
                let isLast = place == said - 1 && said == count && !isMinimum
                bytes.append(contentsOf: (isLast ? " and " : ", ").utf8)
            }
            name(place, &bytes)
        }
        if isMinimum {
            let others = count - said
            bytes.append(contentsOf: (others > 0 ? " and at least \(others) others" : " and others").utf8)
        } else if count > said {
            bytes.append(contentsOf: " and \(count - said) others".utf8)
        }
    }
}

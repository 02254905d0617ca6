/// Finds the name that a person most likely meant.
package enum NearestName {
    /// Returns `; did you mean "x"?` for the nearest of `names`, or an empty string if none is near.
    package static func suggestion(for name: String, among names: some Sequence<String>) -> String {
        guard let nearest = nearest(to: name, among: names) else { return "" }
        return "; did you mean \"\(nearest)\"?"
    }

    /// Returns the name with the smallest edit distance, if that is at most about a third of the length (at least 1)
    /// and less than the length.
    package static func nearest(to name: String, among names: some Sequence<String>) -> String? {
        let wanted = Array(name.lowercased().unicodeScalars.prefix(64))
        let allowed = max(1, wanted.count / 3 + (wanted.count > 4 ? 1 : 0))
        let ranked = names.map { ($0, distance(wanted, Array($0.lowercased().unicodeScalars.prefix(64)))) }
        guard let best = ranked.min(by: { ($0.1, $0.0) < ($1.1, $1.0) }), best.1 <= allowed,
            best.1 < max(wanted.count, 1)
        else { return nil }
        return best.0
    }

    /// The edit distance with transpositions of neighbours (optimal string alignment).
    private static func distance(_ left: [Unicode.Scalar], _ right: [Unicode.Scalar]) -> Int {
        var beforePrevious: [Int] = []
        var previous = Array(0...right.count)
        for (row, scalar) in left.enumerated() {
            var current = [row + 1]
            for (column, other) in right.enumerated() {
                var cost = min(previous[column + 1] + 1, current[column] + 1)
                cost = min(cost, previous[column] + (scalar == other ? 0 : 1))
                if row > 0, column > 0, scalar == right[column - 1], left[row - 1] == other {
                    cost = min(cost, beforePrevious[column - 1] + 1)
                }
                current.append(cost)
            }
            (beforePrevious, previous) = (previous, current)
        }
        return previous[right.count]
    }
}

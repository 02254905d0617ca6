internal import RelayCore

/// Compares what sinks got with what was expected.
struct ExpectationCheck {
    /// What is wrong with a case, in lines for people; empty if nothing is.
    private(set) var lines: [String] = []
    private let file: String
    private let times: ZonedTime

    /// Compares; `seen` are the deliveries to the sinks that the case looks at, in their order.
    init(_ expected: [ExpectedDelivery], _ seen: [SeenDelivery], isExact: Bool, file: String, times: ZonedTime) {
        self.file = file
        self.times = times
        let matches = Self.matches(expected, seen, times)
        var isTaken = [Bool](repeating: false, count: seen.count)
        for case let place? in matches { isTaken[place] = true }
        for (number, expectation) in expected.enumerated() where matches[number] == nil {
            if let nearest = Self.nearest(to: expectation, seen, isTaken, times) {
                isTaken[nearest] = true
                tellDifferent(expectation, seen[nearest])
            } else {
                tellMissing(expectation)
            }
        }
        guard isExact else { return }
        for (place, delivery) in seen.enumerated() where !isTaken[place] { tellUnexpected(delivery) }
    }

    /// Returns for each expectation the delivery that meets it, each delivery once: as many as can be, by augmenting
    /// paths, so that one that asks for little leaves to another what only that can take.
    private static func matches(
        _ expected: [ExpectedDelivery], _ seen: [SeenDelivery], _ times: ZonedTime
    ) -> [Int?] {
        let candidates = expected.map { expectation in
            seen.indices.filter { place in
                seen[place].delivery.sink == expectation.sink
                    && expectation.differences(from: seen[place], times).differences.isEmpty
            }
        }
        var takenBy = [Int?](repeating: nil, count: seen.count)
        for start in expected.indices {
            var cameFrom: [Int: Int] = [:]
            var queue = [start]
            var free: Int?
            while free == nil, let number = queue.popLast() {
                for place in candidates[number] where cameFrom[place] == nil {
                    cameFrom[place] = number
                    guard let owner = takenBy[place] else {
                        free = place
                        break
                    }
                    queue.append(owner)
                }
            }
            // Along the path each one takes the delivery that the next one gives up.
            while let place = free, let number = cameFrom[place] {
                let before = takenBy.firstIndex { $0 == number }
                takenBy[place] = number
                if let before { takenBy[before] = nil }
                free = number == start ? nil : before
            }
        }
        var matches = [Int?](repeating: nil, count: expected.count)
        for (place, number) in takenBy.enumerated() {
            if let number { matches[number] = place }
        }
        return matches
    }

    /// Returns the delivery to the same sink that has most of what was expected, the nearest in time of several.
    private static func nearest(
        to expectation: ExpectedDelivery, _ seen: [SeenDelivery], _ isTaken: [Bool], _ times: ZonedTime
    ) -> Int? {
        let ranked = seen.indices.compactMap { place -> (place: Int, wrong: Int, distance: Duration)? in
            guard !isTaken[place], seen[place].delivery.sink == expectation.sink else { return nil }
            let (differences, compared) = expectation.differences(from: seen[place], times)
            // What differs in all that was asked is another delivery, unless only one thing was.
            guard differences.count < max(compared, 2) else { return nil }
            let distance = expectation.at.map { max($0, seen[place].at) - min($0, seen[place].at) } ?? .zero
            return (place, differences.count, distance)
        }
        return ranked.min { ($0.wrong, $0.distance, $0.place) < ($1.wrong, $1.distance, $1.place) }?.place
    }

    // MARK: Lines

    private mutating func tellDifferent(_ expectation: ExpectedDelivery, _ seen: SeenDelivery) {
        lines.append("  \(place(of: expectation)): differs from \(shown(seen))")
        for difference in expectation.differences(from: seen, times).differences {
            lines.append("      \(difference.name)")
            lines.append("        expected \(difference.expected)")
            lines.append("        got      \(difference.got)")
        }
    }

    private mutating func tellMissing(_ expectation: ExpectedDelivery) {
        let when = expectation.at.map { " at \(times.text($0))" } ?? ""
        let what =
            expectation.title.map { ", \(Shown.quoted($0))" } ?? expectation.rule.map { ", of \(Shown.quoted($0))" }
        lines.append(
            Shown.printable(
                "  \(place(of: expectation)): missing: \(expectation.sink) got nothing like it\(when)\(what ?? "")"))
    }

    private mutating func tellUnexpected(_ seen: SeenDelivery) {
        lines.append("  unexpected: \(shown(seen))")
    }

    private func place(of expectation: ExpectedDelivery) -> String {
        "\(file):\(expectation.position.line):\(expectation.position.column)"
    }

    private func shown(_ seen: SeenDelivery) -> String {
        let notice = seen.delivery.notice
        let several = seen.type == "event" ? "" : ", \(seen.type) of \(seen.delivery.effects)"
        let rule = notice.rule.isEmpty ? "" : ", rule \(Shown.quoted(notice.rule))"
        return Shown.printable(
            "\(seen.delivery.sink) at \(times.text(seen.at)): \(Shown.quoted(notice.title.string))\(several)\(rule)")
    }
}

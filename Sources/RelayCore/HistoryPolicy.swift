/// What the journal keeps of events and their decisions, and for how long: `history` of the rules file.
package struct HistoryPolicy: Sendable, Equatable {
    /// How long an event is kept; zero: nothing is.
    package var keep: Duration
    /// The most bytes that the history takes on disk.
    package var most: Int
    /// Whether events are kept too of which the journal has no effect.
    package var all: Bool

    /// Creates a policy; the defaults are seven days, 200 MB, and only what touched the journal.
    package init(keep: Duration = .seconds(7 * 86_400), most: Int = 200_000_000, all: Bool = false) {
        self.keep = keep
        self.most = most
        self.all = all
    }

    /// Whether nothing is kept.
    package var isOff: Bool { keep == .zero }

    private static let longest = Duration.seconds(3660 * 86_400)
    private static let sizes = 1_000_000...1_000_000_000_000

    /// Reads the value of the key `history`; what is wrong is added to `problems`.
    package static func read(_ node: ConfigurationNode, problems: Problems) -> HistoryPolicy {
        var policy = HistoryPolicy()
        guard var reader = ObjectReader(node, problems) else { return policy }
        if let keep = reader.optional("keep") {
            // A bare "0" has no unit, and needs none.
            let isOff = if case .string("0") = keep.value { true } else { false }
            policy.keep = isOff ? .zero : keep.duration(problems, in: .zero...longest) ?? policy.keep
        }
        if let most = reader.optional("max") { policy.most = most.size(problems, in: sizes) ?? policy.most }
        policy.all = reader.bool("all", default: false)
        reader.finish()
        return policy
    }
}

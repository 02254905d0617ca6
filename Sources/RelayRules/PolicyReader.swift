internal import GLibRuntime
internal import RelayCore

/// Reads the keys of a rule that say when and how often: `limit`, `digest`, `hold`, `repeat`.
struct PolicyReader {
    private static let counts = 1...10_000
    private static let durations = Duration.seconds(1)...(.seconds(31 * 86_400))
    /// More moments of a day than anybody wants digests at.
    private static let mostMoments = 48

    private let times: ReadTimes
    private let zones: ZoneReader
    private let problems: Problems

    /// Creates a reader for a file with such times.
    init(times: ReadTimes, zones: ZoneReader, _ problems: Problems) {
        self.times = times
        self.zones = zones
        self.problems = problems
    }

    /// Takes the keys of a rule; the caller knows by `problems` whether they are right.
    func read(_ reader: inout ObjectReader, isDrop: Bool) -> EffectPolicy {
        var policy = EffectPolicy(rule: "")
        let nodes = ["limit", "digest", "hold", "repeat"].map { reader.optional($0) }
        if isDrop {
            for (name, node) in zip(["limit", "digest", "hold", "repeat"], nodes) {
                guard let node else { continue }
                problems.add(at: node, "\"\(name)\" makes no sense beside \"drop\", which delivers nothing")
            }
        }
        let limitFields = nodes[0].flatMap { limit($0, into: &policy) } ?? []
        policy.digest = nodes[1].flatMap(digest)
        policy.hold = nodes[2].flatMap { times.place($0, problems) }.map { times.names[$0] }
        policy.repeat = nodes[3].flatMap(self.repeat)
        if let digest = policy.digest {
            for (field, node) in limitFields where !digest.by.contains(field) {
                problems.add(
                    at: node,
                    "\"\(field.rawValue)\" is not in the \"by\" of \"digest\"; "
                        + "a digest could then not tell to which limit it counts")
            }
        }
        return policy
    }

    private func limit(
        _ node: ConfigurationNode, into policy: inout EffectPolicy
    ) -> [(field: KeyField, node: ConfigurationNode)] {
        guard var reader = ObjectReader(node, problems) else { return [] }
        let max = reader.required("max")?.integer(problems, in: Self.counts)
        let per = reader.required("per")?.duration(problems, in: Self.durations)
        let by = reader.optional("by").map(fields) ?? []
        let excess = reader.optional("excess").map { $0.choice(problems, of: "excess") as LimitPolicy.Excess? }
        reader.finish()
        if let max, let per {
            policy.limit = LimitPolicy(max: max, per: per, by: by.map(\.field), excess: (excess ?? .digest) ?? .digest)
        }
        return by
    }

    private func digest(_ node: ConfigurationNode) -> DigestPolicy? {
        guard var reader = ObjectReader(node, problems) else { return nil }
        let by = reader.optional("by").map(fields) ?? []
        let window = reader.optional("window")
        let at = reader.optional("at")
        let zoneNode = reader.optional("zone")
        let max = reader.optional("max").map { $0.integer(problems, in: Self.counts) }
        let first = reader.optional("first")
        reader.finish()
        if let first, let text = first.string(problems, expected: "\"now\""), text != "now" {
            problems.add(at: first, "expected \"now\", found \(Shown.quoted(text))")
        }
        var zone = zoneNode.flatMap { zones.read($0, problems) }
        if let at, zoneNode == nil { zone = zones.system(for: at, problems) }
        if let zoneNode, at == nil { problems.add(at: zoneNode, "\"zone\" goes with \"at\"") }
        guard let timing = timing(node, window: window, at: at, zone) else { return nil }
        return DigestPolicy(by: by.map(\.field), timing: timing, max: max ?? nil, sendsFirst: first != nil)
    }

    private func timing(
        _ node: ConfigurationNode, window: ConfigurationNode?, at: ConfigurationNode?, _ zone: Zone?
    ) -> DigestPolicy.Timing? {
        switch (window, at) {
        case (let window?, nil): return window.duration(problems, in: Self.durations).map { .window($0) }
        case (nil, let at?):
            let minutes = moments(at)
            guard let zone, !minutes.isEmpty else { return nil }
            return .at(DailyTimes(minutes: minutes, zone: zone))
        case (nil, nil): problems.add(at: node, "a digest has \"window\" or \"at\"; here is neither")
        case (.some, .some): problems.add(at: node, "a digest has \"window\" or \"at\"; here are both")
        }
        return nil
    }

    private func moments(_ node: ConfigurationNode) -> [QuietTime.Minute] {
        guard case .array(let elements) = node.value else {
            problems.add(
                at: node, "expected an array of times of day such as [\"09:00\", \"18:00\"], found \(node.kind)")
            return []
        }
        if elements.isEmpty { problems.add(at: node, "names no time of day") }
        if elements.count > Self.mostMoments { problems.add(at: node, "names more than \(Self.mostMoments) times") }
        var minutes: [QuietTime.Minute] = []
        for element in elements {
            guard let minute = TimeOfDay.read(element, problems) else { continue }
            if minutes.contains(minute) { problems.add(at: element, "this time of day stands twice") }
            minutes.append(minute)
        }
        return minutes
    }

    private func `repeat`(_ node: ConfigurationNode) -> RepeatPolicy? {
        guard var reader = ObjectReader(node, problems) else { return nil }
        let by = reader.required("by").map(fields) ?? []
        let within = reader.required("within")?.duration(problems, in: Self.durations)
        reader.finish()
        guard let within, !by.isEmpty else { return nil }
        return RepeatPolicy(by: by.map(\.field), within: within)
    }

    /// Reads `by`.
    private func fields(_ node: ConfigurationNode) -> [(field: KeyField, node: ConfigurationNode)] {
        guard case .array(let elements) = node.value else {
            problems.add(at: node, "expected an array such as [\"actor\", \"post\"], found \(node.kind)")
            return []
        }
        if elements.isEmpty { problems.add(at: node, "names no field") }
        var fields: [(field: KeyField, node: ConfigurationNode)] = []
        for element in elements {
            guard let field: KeyField = element.choice(problems, of: "field") else { continue }
            if fields.contains(where: { $0.field == field }) {
                problems.add(at: element, "the field \"\(field.rawValue)\" stands twice")
            }
            fields.append((field, element))
        }
        return fields
    }
}

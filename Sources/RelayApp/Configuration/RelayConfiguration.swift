internal import RelayCore
internal import RelayRules
internal import RelaySinks
internal import RelayStream

/// What a rules file says, checked: a configuration that exists is valid.
struct RelayConfiguration: Sendable {
    /// One stream.
    struct Stream: Sendable {
        /// How to connect.
        var connection: StreamConfiguration
        /// How to read its messages.
        var format: EventFormat
        /// What the file says of it, without its link, which is the rules' business.
        var fingerprint: [UInt8] = []
    }

    /// The streams, in the order of the file.
    var streams: [Stream]
    /// The sinks, in the order of the file, which is that of `rules.sinkNames`.
    var sinks: [SinkConfiguration]
    /// The rules.
    var rules: RuleSet
    /// What the journal keeps of events, and for how long.
    var history = HistoryPolicy()
    /// What the file has, by name.
    var outline: RulesOutline

    /// The most streams and sinks of a file: each costs a connection or a worker.
    private static let mostEntries = 100

    /// Reads the text of a rules file; every problem is added to `problems`, and nil returned if one is an error.
    static func read(_ text: [UInt8], problems: Problems) -> RelayConfiguration? {
        guard let node = ConfigurationParser.parse(text, problems: problems),
            var root = ObjectReader(node, problems)
        else { return nil }
        _ = root.string("$schema")
        let streamNodes = entries(of: root.required("streams"), problems)
        let sinkNodes = entries(of: root.required("sinks"), problems)
        let entries = streamNodes.compactMap {
            StreamConfiguration.read(name: $0.key, node: $0.value, problems: problems)
        }
        let streams = zip(entries, fingerprints(of: entries, in: streamNodes)).map { stream($0, $1, problems) }
        let sinks = sinkNodes.compactMap { sink($0, problems) }
        let links = entries.compactMap { entry in
            entry.link.flatMap { LinkTemplate.read($0, problems) }.map { (entry.configuration.name, $0) }
        }
        let rules = RuleSetReader.read(
            root: &root, sinkNames: sinkNodes.map(\.key), streamNames: streamNodes.map(\.key),
            streamLinks: Dictionary(links) { first, _ in first }, problems: problems)
        let history = root.optional("history").map { HistoryPolicy.read($0, problems: problems) }
        root.finish(notYet: ["status"])
        checkStandardOutput(sinks, sinkNodes, problems)
        guard !problems.hasErrors, let rules else { return nil }
        SinkLint.check(sinks, sinkNodes, rules: rules, problems)
        return RelayConfiguration(
            streams: streams, sinks: sinks, rules: rules, history: history ?? HistoryPolicy(),
            outline: RulesOutline(node))
    }

    private static func sink(_ member: ConfigurationNode.Member, _ problems: Problems) -> SinkConfiguration? {
        var sink = SinkConfiguration.read(name: member.key, node: member.value, problems: problems)
        sink?.fingerprint = member.value.fingerprint()
        return sink
    }

    private static func fingerprints(
        of entries: [StreamConfiguration.Entry], in nodes: [ConfigurationNode.Member]
    ) -> [[UInt8]] {
        entries.map { entry in
            nodes.first { $0.key == entry.configuration.name }?.value.fingerprint(ignoring: ["link"]) ?? []
        }
    }

    /// The members of `streams` or `sinks`: at least one, each with a usable name.
    private static func entries(
        of node: ConfigurationNode?, _ problems: Problems
    ) -> [ConfigurationNode.Member] {
        guard let node, var reader = ObjectReader(node, problems) else { return [] }
        let members = reader.takeAll()
        reader.finish()
        if members.isEmpty { problems.add(at: node, "needs at least one entry") }
        if members.count > mostEntries { problems.add(at: node, "has more than \(mostEntries) entries") }
        for member in members where !isName(member.key) {
            problems.add(
                Problem(
                    .error, at: member.keyPosition, path: member.value.path,
                    message: "a name has 1 to 64 characters and no control characters"))
        }
        return members
    }

    private static func isName(_ text: String) -> Bool {
        (1...64).contains(text.count) && text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    }

    private static func stream(
        _ entry: StreamConfiguration.Entry, _ fingerprint: [UInt8], _ problems: Problems
    ) -> Stream {
        let format = entry.format.map { EventFormat.read(node: $0, problems: problems) } ?? .chirp
        if let node = entry.format, let format, !format.mapsID {
            problems.add(
                .warning, at: node, "maps no id: the relay cannot tell a repeated event, nor catch up after a gap")
        }
        return Stream(connection: entry.configuration, format: format ?? .chirp, fingerprint: fingerprint)
    }

    /// Two sinks on standard output would write into each other's lines.
    private static func checkStandardOutput(
        _ sinks: [SinkConfiguration], _ nodes: [ConfigurationNode.Member], _ problems: Problems
    ) {
        let names = sinks.compactMap { sink -> String? in
            if case .stdout = sink.kind { return sink.name }
            return nil
        }
        guard let owner = names.first else { return }
        for node in nodes where names.dropFirst().contains(node.key) {
            problems.add(at: node.value, "only one sink can have standard output, and \"\(owner)\" has it")
        }
    }
}

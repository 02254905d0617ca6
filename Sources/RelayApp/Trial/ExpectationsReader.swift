internal import GLibRuntime
internal import RelayCore

/// Reads a file of expectations strictly, as the rules file is read: all that is wrong is told with its place.
struct ExpectationsReader {
    /// The most cases of a file, and the most expectations of a case.
    private static let most = 10_000

    private let problems: Problems
    private let sinkNames: [String]
    private let folder: String
    private let hasOperand: Bool
    private var times = ZonedTime()

    /// Creates a reader.
    ///
    /// - Parameters:
    ///   - sinkNames: the sinks of the rules file.
    ///   - folder: what relative paths in the file relate to.
    ///   - hasOperand: whether a file of events stands on the command line, for cases that give none.
    ///   - problems: where everything that is wrong goes.
    init(sinkNames: [String], folder: String, hasOperand: Bool, problems: Problems) {
        self.sinkNames = sinkNames
        self.folder = folder
        self.hasOperand = hasOperand
        self.problems = problems
    }

    /// Returns the rules file that the file names; nil if it names none.
    static func rulesPath(in node: ConfigurationNode, folder: String) -> String? {
        guard case .object(let members) = node.value,
            case .string(let path)? = members.first(where: { $0.key == "rules" })?.value.value
        else { return nil }
        return resolve(path, folder)
    }

    /// Reads the file; returns nil if anything is wrong with it.
    mutating func read(_ node: ConfigurationNode) -> Expectations? {
        guard var reader = ObjectReader(node, problems) else { return nil }
        let rules = reader.string("rules")
        if let zone = reader.optional("zone") { setZone(zone) }
        var cases: [Expectations.Case] = []
        if let list = reader.optional("cases") {
            reader.finish()
            if case .array(let elements) = list.value, elements.isEmpty {
                problems.add(at: list, "names no case: there is nothing to check")
            }
            cases = elements(of: list, "cases").enumerated().compactMap { number, node in
                guard let reader = ObjectReader(node, problems) else { return nil }
                return self.case(reader, name: "case \(number + 1)")
            }
        } else {
            // One case needs no list.
            cases = self.case(reader, name: "expectations").map { [$0] } ?? []
        }
        guard !problems.hasErrors else { return nil }
        return Expectations(rules: rules.map { Self.resolve($0, folder) }, times: times, cases: cases)
    }

    private static func resolve(_ path: String, _ folder: String) -> String {
        path.hasPrefix("/") || folder.isEmpty ? path : "\(folder)/\(path)"
    }

    private mutating func setZone(_ node: ConfigurationNode) {
        guard let name = node.string(problems, expected: "the name of a zone such as \"Europe/Berlin\"") else { return }
        if let zone = Zone(named: name) {
            times = ZonedTime(zone)
        } else {
            problems.add(at: node, "there is no zone \(Shown.quoted(name)); write it like \"Europe/Berlin\"")
        }
    }

    private func `case`(_ reader: consuming ObjectReader, name: String) -> Expectations.Case? {
        var reader = reader
        let name = reader.string("name") ?? name
        let given = given(reader.optional("given"), of: reader.node)
        let until = reader.optional("until").flatMap(time)
        let expected = reader.required("expect").map { elements(of: $0, "expect").compactMap(delivery) } ?? []
        let sinks = reader.optional("sinks").map { elements(of: $0, "sinks").compactMap(sink) }
        let isExact = reader.bool("exactly", default: true)
        reader.finish()
        guard let given else { return nil }
        let named = Set(expected.map(\.sink) + (sinks ?? []))
        return Expectations.Case(
            name: name, given: given, until: until, expected: expected, sinks: named.isEmpty ? nil : named.sorted(),
            isExact: isExact)
    }

    private func given(_ node: ConfigurationNode?, of parent: ConfigurationNode) -> Expectations.Given? {
        guard let node else {
            if hasOperand { return .operand }
            problems.add(at: parent, "the key \"given\" is missing: the events, or the name of a file of them")
            return nil
        }
        switch node.value {
        case .string(let path): return .file(Self.resolve(path, folder))
        case .array(let events):
            return .inline(events.map { (Array($0.json.utf8), $0.position.line) })
        default:
            problems.add(at: node, "expected an array of events, or the name of a file of them, found \(node.kind)")
            return nil
        }
    }

    private func delivery(_ node: ConfigurationNode) -> ExpectedDelivery? {
        guard var reader = ObjectReader(node, problems) else { return nil }
        guard let sink = reader.required("sink").flatMap(sink) else { return nil }
        var delivery = ExpectedDelivery(sink: sink, position: node.position)
        delivery.at = reader.optional("at").flatMap(time)
        delivery.type = reader.optional("type").flatMap(type)
        delivery.rule = reader.string("rule")
        delivery.event = reader.string("event")
        delivery.key = reader.string("key")
        delivery.title = reader.string("title")
        delivery.body = reader.string("body")
        delivery.link = reader.string("link")
        delivery.count = reader.optional("count")?.integer(problems, in: 1...Int(Int32.max))
        delivery.suppressed = reader.optional("suppressed")?.integer(problems, in: 0...Int(Int32.max))
        reader.finish()
        return delivery
    }

    private func time(_ node: ConfigurationNode) -> Instant? {
        guard let text = node.string(problems, expected: "a time") else { return nil }
        if !ZonedTime.hasOffset(text), let fault = times.fault {
            problems.add(at: node, "\(fault); write \"zone\" in this file")
            return nil
        }
        if let instant = times.instant(text) { return instant }
        problems.add(at: node, "\(Shown.quoted(text)) is no time; write it like \(ZonedTime.forms)")
        return nil
    }

    private func type(_ node: ConfigurationNode) -> String? {
        let types = ["event", "digest", "briefing"]
        guard let text = node.string(problems) else { return nil }
        if types.contains(text) { return text }
        let suggestion = NearestName.suggestion(for: text, among: types)
        let choice = suggestion.isEmpty ? "; it is \"event\", \"digest\" or \"briefing\"" : suggestion
        problems.add(at: node, "there is no type \(Shown.quoted(text))\(choice)")
        return nil
    }

    private func sink(_ node: ConfigurationNode) -> String? {
        guard let name = node.string(problems, expected: "the name of a sink") else { return nil }
        if sinkNames.contains(name) { return name }
        let suggestion = NearestName.suggestion(for: name, among: sinkNames)
        problems.add(at: node, "the rules file has no sink \(Shown.quoted(name))\(suggestion)")
        return nil
    }

    private func elements(of node: ConfigurationNode, _ name: String) -> [ConfigurationNode] {
        guard case .array(let elements) = node.value else {
            problems.add(at: node, "expected an array, found \(node.kind)")
            return []
        }
        if elements.count > Self.most { problems.add(at: node, "\"\(name)\" has more than \(Self.most) elements") }
        return elements
    }
}

package import RelayCore

extension EventFormat {
    /// The most filters that a format may have; the parser keeps a bit for each.
    private static let mostFilters = 16

    /// Reads the value of `format`: a ready format's name, or an object; reports problems and returns nil.
    package static func read(node: ConfigurationNode, problems: Problems) -> EventFormat? {
        if case .string(let name) = node.value {
            if let format = ready[name] { return format }
            let suggestion = NearestName.suggestion(for: name, among: ready.keys)
            problems.add(
                at: node,
                "there is no ready format \"\(name)\"\(suggestion.isEmpty ? "; there is \"chirp\"" : suggestion)")
            return nil
        }
        guard case .object = node.value else {
            problems.add(at: node, "expected \"chirp\" or an object of JSON Pointers, found \(node.kind)")
            return nil
        }
        return readObject(node, problems)
    }

    private static func readObject(_ node: ConfigurationNode, _ problems: Problems) -> EventFormat? {
        let before = problems.all.count
        guard var reader = ObjectReader(node, problems) else { return nil }
        func pointer(_ key: String) -> JSONPointer? {
            reader.optional(key).flatMap { JSONPointer.read($0, problems) }
        }
        let events = pointer("events") ?? .whole
        let kind = reader.required("kind").flatMap { JSONPointer.read($0, problems) }
        let fields = ["id", "actor", "post", "createdAt", "text", "link"].map(pointer)
        let kinds = reader.optional("kinds").map { readKinds($0, problems) } ?? [:]
        let only = reader.optional("only").map { readFilters($0, events: events, problems) } ?? []
        reader.finish(notYet: ["embedded"])
        guard let kind, problems.all[before...].allSatisfy({ $0.severity != .error }) else { return nil }
        var format = EventFormat(
            events: events, id: fields[0], kind: kind, actor: fields[1], post: fields[2], createdAt: fields[3],
            text: fields[4], link: fields[5])
        format.kinds = kinds
        format.only = only
        return format
    }

    private static func readKinds(_ node: ConfigurationNode, _ problems: Problems) -> [String: String] {
        guard case .object(let members) = node.value else {
            problems.add(at: node, "expected an object such as {\"note.reply\": \"comment\"}, found \(node.kind)")
            return [:]
        }
        var kinds: [String: String] = [:]
        for member in members {
            kinds[member.key] = member.value.string(problems, expected: "the name of a kind")
        }
        return kinds
    }

    private static func readFilters(
        _ node: ConfigurationNode, events: JSONPointer, _ problems: Problems
    ) -> [Filter] {
        guard case .object(let members) = node.value else {
            problems.add(at: node, "expected an object such as {\"/type\": [\"event\"]}, found \(node.kind)")
            return []
        }
        if members.count > mostFilters { problems.add(at: node, "at most \(mostFilters) pointers may be filtered by") }
        return members.compactMap { member in
            guard let pointer = JSONPointer.read(member.key, at: member.value, problems) else { return nil }
            if events != .whole, pointer.isWithin(events) {
                problems.add(
                    at: member.value,
                    "\"\(member.key)\" lies within \"events\"; \"only\" looks at the envelope around the events")
            }
            let values = member.value.list.compactMap { value($0, problems) }
            if member.value.list.isEmpty { problems.add(at: member.value, "must not be empty: no event would pass") }
            return Filter(pointer: pointer, values: values)
        }
    }

    private static func value(_ node: ConfigurationNode, _ problems: Problems) -> Filter.Value? {
        switch node.value {
        case .string(let text): return .string(text)
        case .number(let text): return .number(text)
        case .bool(let flag): return .bool(flag)
        case .null: return .null
        case .array, .object:
            problems.add(at: node, "expected a string, a number, true, false or null, found \(node.kind)")
            return nil
        }
    }
}

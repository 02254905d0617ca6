internal import RelayCore

/// What a file of expectations says: cases, each with events and the deliveries that they must give.
struct Expectations: Sendable {
    /// Events and what must come of them.
    struct Case: Sendable {
        /// The name.
        var name: String
        /// The events.
        var given: Given
        /// When virtual time ends; nil: when nothing is open.
        var until: Instant?
        /// What sinks must get.
        var expected: [ExpectedDelivery]
        /// The sinks that are looked at; nil for all.
        var sinks: [String]?
        /// Whether these sinks may get nothing else.
        var isExact: Bool
    }

    /// Where the events of a case are.
    enum Given: Sendable {
        /// In the file of expectations: each as JSON, with its line.
        case inline([(json: [UInt8], line: Int)])
        /// In a file of their own.
        case file(String)
        /// In the file that the command names.
        case operand
    }

    /// The rules file that it names, relative to itself.
    var rules: String?
    /// The zone of local times.
    var times: ZonedTime
    /// The cases.
    var cases: [Case]
}

/// What a sink must get; what is nil may be anything.
struct ExpectedDelivery: Sendable {
    /// The name of the sink.
    var sink: String
    /// When.
    var at: Instant?
    /// `event`, `digest` or `briefing`.
    var type: String?
    /// The name of the rule.
    var rule: String?
    /// The id of the event.
    var event: String?
    /// The group, or the name of the quiet time.
    var key: String?
    /// The title.
    var title: String?
    /// The body.
    var body: String?
    /// The link.
    var link: String?
    /// How many events it tells.
    var count: Int?
    /// How many more were suppressed.
    var suppressed: Int?
    /// Where it stands in the file.
    var position: Position
}

/// What a sink got, as far as expectations ask for it.
struct SeenDelivery: Sendable {
    /// When.
    var at: Instant
    /// What.
    var delivery: Delivery

    /// `event`, `digest` or `briefing`.
    var type: String {
        switch delivery.content {
        case .event: "event"
        case .digest: "digest"
        case .briefing: "briefing"
        }
    }

    /// The group, or the name of the quiet time; nil for an event.
    var key: String? {
        switch delivery.content {
        case .event: nil
        case .digest(let summary), .briefing(let summary): summary.key.string
        }
    }

    /// The id of the event; nil for several.
    var event: String? {
        guard case .event(let event) = delivery.content else { return nil }
        return event.text(of: event.record.id)?.string
    }
}

/// A member of an expectation that differs.
struct Difference: Sendable, Equatable {
    /// The name of the member.
    var name: String
    /// What the file says.
    var expected: String
    /// What came.
    var got: String
}

extension ExpectedDelivery {
    /// Returns what differs, and how many members were compared.
    func differences(from seen: SeenDelivery, _ times: ZonedTime) -> (differences: [Difference], compared: Int) {
        var differences: [Difference] = []
        var compared = 0
        func compare<Value: Equatable>(_ name: String, _ expected: Value?, _ got: Value?, _ show: (Value) -> String) {
            guard let expected else { return }
            compared += 1
            guard expected != got else { return }
            differences.append(
                Difference(name: name, expected: show(expected), got: got.map { show($0) } ?? "nothing"))
        }
        let notice = seen.delivery.notice
        compare("at", at, seen.at) { times.text($0) }
        compare("type", type, seen.type) { $0 }
        compare("rule", rule, notice.rule, Self.quoted)
        compare("event", event, seen.event, Self.quoted)
        compare("key", key, seen.key, Self.quoted)
        compare("title", title, notice.title.string, Self.quoted)
        compare("body", body, notice.body.string, Self.quoted)
        compare("link", link, notice.link.string, Self.quoted)
        compare("count", count, seen.delivery.effects) { String($0) }
        compare("suppressed", suppressed, notice.suppressed) { String($0) }
        return (differences, compared)
    }

    /// A text as JSON has it, so that a line break or a hidden character can be seen.
    private static func quoted(_ text: String) -> String {
        var bytes: [UInt8] = []
        JSONText.append(text, to: &bytes)
        return "\"\(String(decoding: bytes, as: UTF8.self))\""
    }
}

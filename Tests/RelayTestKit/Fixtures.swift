package import RelayCore

/// Values that tests of several rooms need.
package enum Fixtures {
    /// An event with these fields, over a storage of its own.
    package static func event(
        id: String = "11111111-1111-4111-8111-111111111111", kind: String = "like", actor: String? = "ann",
        post: String? = nil, text: String? = nil, link: String? = nil, stream: String = "chirp",
        at createdAt: Instant = Instant(milliseconds: 1_893_553_445_000)
    ) -> Event {
        var storage: [UInt8] = []
        func place(_ text: String?) -> TextRange {
            guard let text else { return .absent }
            defer { storage.append(contentsOf: text.utf8) }
            return TextRange(offset: UInt32(storage.count), count: UInt32(text.utf8.count))
        }
        var record = EventRecord(
            identity: EventID(high: UInt64(bitPattern: Int64(id.hashValue)), low: 0), createdAt: createdAt,
            id: place(id), kind: place(kind))
        record.actor = place(actor)
        record.post = place(post)
        record.text = place(text)
        record.link = place(link)
        return Event(storage: storage, record: record, stream: stream)
    }

    /// A delivery to `sink` with this key.
    package static func delivery(_ key: String, to sink: String = "sink", title: String = "title") -> Delivery {
        Delivery(
            key: key, sink: sink, notice: Notice(title: UntrustedText(title), rule: "rule"),
            content: .event(event(id: key)))
    }

    /// The sinks of `plan()`.
    package static let sinks = ["sink", "other", "hung", "quick"]

    /// Intakes of one event each, with these ids, for the one rule of `plan()`.
    package static func intakes(_ ids: [String], to sink: String = "sink") -> [Intake] {
        ids.map {
            let place = sinks.firstIndex(of: sink) ?? Effect.nobody
            return Intake(event: event(id: $0), effects: [Effect(rule: 0, sink: place, action: .deliver)])
        }
    }

    /// A plan in which every policy that names no sinks goes to every one, and notices are plain.
    package static func plan(
        _ policies: [EffectPolicy] = [EffectPolicy(rule: "rule")], sinks: [String] = sinks,
        times: [String: QuietTime] = [:]
    ) -> EffectPlan {
        let policies = policies.map { policy in
            var policy = policy
            if policy.sinks.isEmpty { policy.sinks = Array(sinks.indices) }
            return policy
        }
        return EffectPlan(
            policies: policies, sinkNames: sinks, times: times, renderer: PlainRenderer(policies: policies))
    }
}

/// Notices that say no more than a test needs: the id of the event, or how many there are.
package struct PlainRenderer: NoticeRenderer {
    private let policies: [EffectPolicy]

    /// Creates a renderer for these rules.
    package init(policies: [EffectPolicy]) {
        self.policies = policies
    }

    package func notice(rule: Int, for event: Event, suppressed: Int) -> Notice {
        let title = event.text(of: event.record.id) ?? UntrustedText()
        return Notice(title: title, rule: name(of: rule), suppressed: suppressed)
    }

    package func notice(rule: Int, for digest: Gathering, suppressed: Int) -> Notice {
        Notice(title: UntrustedText("\(digest.count)"), rule: name(of: rule), suppressed: suppressed)
    }

    package func briefing(time: String, of gathering: Gathering) -> Notice {
        Notice(title: UntrustedText("\(time): \(gathering.count)"))
    }

    private func name(of rule: Int) -> String { policies.indices.contains(rule) ? policies[rule].rule : "" }
}

extension Delivery {
    /// The id of the event it tells of; nil for a digest or a briefing.
    package var eventID: String? {
        guard case .event(let event) = content else { return nil }
        return event.text(of: event.record.id)?.string
    }
}

extension EventBatch {
    /// Appends an event, whose text is copied.
    package mutating func append(_ event: Event) {
        var record = event.record
        let offset = UInt32(storage.count)
        for field in [\EventRecord.id, \.kind, \.actor, \.post, \.text, \.link, \.raw]
        where record[keyPath: field].isPresent { record[keyPath: field].offset += offset }
        storage += event.storage
        records.append(record)
    }
}

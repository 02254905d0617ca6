internal import RelayCore

/// Finds the rules that can match an event: by its actor, by its kind, and those that name neither.
///
/// A rule stands in one of the three only, so their lists, each in the order of the file, merge without doubles.
struct RuleIndex: Sendable {
    /// A part of `postings`.
    struct Bucket: Sendable, BitwiseCopyable {
        var start = 0
        var end = 0
    }

    /// Rule numbers, bucket by bucket.
    private(set) var postings: [UInt32] = []
    private let actors: NameTable
    private let kinds: NameTable
    private var actorBuckets: [Bucket] = []
    private var kindBuckets: [Bucket] = []
    private var rest = Bucket()

    /// Creates the index, and leaves in `conditions` what a look-up does not answer.
    init(_ conditions: inout [Condition]) {
        var byActor = Lists()
        var byKind = Lists()
        var others: [UInt32] = []
        for rule in conditions.indices {
            if let names = Self.takeLiterals(.actor, from: &conditions[rule]) {
                byActor.add(UInt32(rule), under: names)
            } else if let names = Self.takeLiterals(.kind, from: &conditions[rule]) {
                byKind.add(UInt32(rule), under: names)
            } else {
                others.append(UInt32(rule))
            }
        }
        actors = NameTable(byActor.names)
        kinds = NameTable(byKind.names)
        actorBuckets = byActor.rules.map { Self.append($0, to: &postings) }
        kindBuckets = byKind.rules.map { Self.append($0, to: &postings) }
        rest = Self.append(others, to: &postings)
    }

    /// Returns the bucket of the event's actor.
    func actorBucket(_ event: Event, _ scratch: inout Scratch) -> Bucket {
        guard !actorBuckets.isEmpty, event.record.actor.isPresent else { return Bucket() }
        return event.withBytes(of: event.record.actor) { actor in
            switch actors.find(folding: actor) {
            case .found(let number): return actorBuckets[number]
            case .absent: return Bucket()
            case .needsFolding:
                let folded = scratch.folded(actor, of: .actor)
                guard case .found(let number) = actors.find(exactly: folded.span.bytes) else { return Bucket() }
                return actorBuckets[number]
            }
        }
    }

    /// Returns the bucket of the event's kind.
    func kindBucket(_ event: Event) -> Bucket {
        guard !kindBuckets.isEmpty else { return Bucket() }
        return event.withBytes(of: event.record.kind) { kind in
            guard case .found(let number) = kinds.find(exactly: kind) else { return Bucket() }
            return kindBuckets[number]
        }
    }

    /// The rules that name neither actors nor kinds as literals.
    var restBucket: Bucket { rest }

    /// Takes the first conjunct that only lists literals of `field` out of a condition.
    private static func takeLiterals(_ field: Field, from condition: inout Condition) -> [[UInt8]]? {
        var conjuncts = condition.conjuncts
        for (index, conjunct) in conjuncts.enumerated() {
            guard case .matches(field, let values) = conjunct, values.isLiteral else { continue }
            conjuncts.remove(at: index)
            condition = Condition.conjunction(of: conjuncts)
            return values.literals
        }
        return nil
    }

    private static func append(_ rules: [UInt32], to postings: inout [UInt32]) -> Bucket {
        let start = postings.count
        postings += rules
        return Bucket(start: start, end: postings.count)
    }

    /// Lists of rules by name, while the index is made.
    private struct Lists {
        var names: [[UInt8]] = []
        var rules: [[UInt32]] = []
        private var numbers: [[UInt8]: Int] = [:]

        mutating func add(_ rule: UInt32, under names: [[UInt8]]) {
            for name in names {
                if let number = numbers[name] {
                    rules[number].append(rule)
                } else {
                    numbers[name] = rules.count
                    self.names.append(name)
                    rules.append([rule])
                }
            }
        }
    }
}

import GLibRuntime
import RelayCore
import RelayJournal
import RelayTestKit

/// Values as rows hold them, at random.
struct RandomRows {
    var generator: SeededGenerator

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
    }

    mutating func text(upTo count: Int = 40) -> String {
        let letters = ["a", "B", "7", " ", "é", "ß", "漢", "😀", "\u{0}", "\n", "\"", "e\u{301}"]
        return (0..<Int.random(in: 0...count, using: &generator)).map { _ in
            letters.randomElement(using: &generator) ?? ""
        }.joined()
    }

    mutating func maybe<Value>(_ make: (inout RandomRows) -> Value) -> Value? {
        Bool.random(using: &generator) ? make(&self) : nil
    }

    mutating func list<Value>(upTo count: Int = 5, _ make: (inout RandomRows) -> Value) -> [Value] {
        (0..<Int.random(in: 0...count, using: &generator)).map { _ in make(&self) }
    }

    mutating func number() -> UInt64 {
        UInt64.random(in: 0...(.max >> UInt64.random(in: 0...63, using: &generator)), using: &generator)
    }

    mutating func count() -> Int { Int(number() >> 14) }

    mutating func instant() -> Instant {
        Instant(milliseconds: Int64(bitPattern: number()) * (Bool.random(using: &generator) ? 1 : -1))
    }

    mutating func duration() -> Duration { .milliseconds(Int64(number() >> 2)) }

    mutating func key() -> EffectKey {
        EffectKey(high: .random(in: 0 ... .max, using: &generator), low: .random(in: 0 ... .max, using: &generator))
    }

    mutating func scope() -> Scope { Scope(rule: text(), sink: text()) }

    mutating func fields() -> [KeyField] { KeyField.allCases.shuffled(using: &generator).dropLast(1) }

    mutating func zone() -> Zone {
        Zone(named: ["UTC", "Europe/Berlin"].randomElement(using: &generator) ?? "") ?? Zone()
    }

    mutating func event() -> Event {
        var event = Fixtures.event(
            id: text(), kind: text(), actor: maybe { $0.text() }, post: maybe { $0.text() },
            text: maybe { $0.text(upTo: 400) }, link: maybe { $0.text() }, stream: text(), at: instant())
        event.record.identity = EventID(high: number(), low: number())
        event.record.hasServerID = Bool.random(using: &generator)
        return event
    }

    mutating func summary() -> Summary {
        var summary = Summary(key: UntrustedText(text()), of: Gathering())
        summary.count = count()
        (summary.first, summary.last) = (instant(), instant())
        summary.events = list { UntrustedText($0.text()) }
        summary.actors = list { UntrustedText($0.text()) }
        summary.posts = list { UntrustedText($0.text()) }
        return summary
    }

    mutating func delivery() -> Delivery {
        let notice = Notice(
            title: UntrustedText(text()), body: UntrustedText(text(upTo: 400)), link: UntrustedText(text()),
            urgency: Urgency.allCases.randomElement(using: &generator) ?? .low, icon: text(), rule: text(),
            suppressed: count())
        let content: Delivery.Content =
            switch Int.random(in: 0..<3, using: &generator) {
            case 0: .event(event())
            case 1: .digest(summary())
            default: .briefing(summary())
            }
        return Delivery(key: text(), sink: text(), notice: notice, content: content)
    }

    mutating func limit() -> LimitPolicy {
        LimitPolicy(
            max: 1 + count(), per: duration(), by: fields(),
            excess: LimitPolicy.Excess.allCases.randomElement(using: &generator) ?? .drop)
    }

    mutating func digest() -> DigestPolicy {
        let minutes = [Int.random(in: 0..<1440, using: &generator)]
        let timing: DigestPolicy.Timing =
            Bool.random(using: &generator) ? .window(duration()) : .at(DailyTimes(minutes: minutes, zone: zone()))
        return DigestPolicy(
            by: fields(), timing: timing, max: maybe { $0.count() }, sendsFirst: Bool.random(using: &generator))
    }

    mutating func tally() -> GatheringTally {
        var tally = GatheringTally()
        tally.count = count()
        (tally.first, tally.last) = (instant(), instant())
        return tally
    }

    mutating func limitRow() -> LimitRow {
        let isShared = Bool.random(using: &generator)
        let charges = list { $0.instant() }
        return LimitRow(
            key: key(), scope: scope(), isShared: isShared, charges: charges,
            owners: isShared ? charges.map { _ in key() } : [], untold: count(), per: duration())
    }

    mutating func groupRow() -> GroupRow {
        GroupRow(
            serial: number(), key: key(), scope: scope(),
            sort: Bool.random(using: &generator) ? .digest(digest()) : .excess(limit()),
            isShared: Bool.random(using: &generator),
            deadline: Bool.random(using: &generator) ? .relay(instant()) : .wall(instant()),
            waits: maybe { $0.duration() }, limitKey: maybe { $0.key() }, tally: tally())
    }

    mutating func plan() -> PlanRow {
        PlanRow(
            policies: list { rows in
                EffectPolicy(
                    rule: rows.text(),
                    repeat: rows.maybe { RepeatPolicy(by: $0.fields(), within: $0.duration()) },
                    digest: rows.maybe { $0.digest() }, hold: rows.maybe { $0.text() },
                    limit: rows.maybe { $0.limit() },
                    sinks: rows.list { $0.count() }, keepsRaw: Bool.random(using: &rows.generator))
            }, sinkNames: list { $0.text() },
            times: Dictionary(
                list { rows in
                    let from = Int.random(in: 0..<1440, using: &rows.generator)
                    return (rows.text(), QuietTime(from: from, to: from + 1, zone: rows.zone()))
                }
            ) { first, _ in first })
    }

    mutating func silences() -> SilenceRows {
        SilenceRows(
            silences: list { rows in
                Silence(
                    id: rows.number(),
                    matcher: Silence.Matcher(
                        kind: rows.maybe { $0.text() }, actor: rows.maybe { $0.text() }, post: rows.maybe { $0.text() },
                        rule: rows.maybe { $0.text() }, sink: rows.maybe { $0.text() },
                        stream: rows.maybe { $0.text() }), until: rows.instant())
            }, lastID: number())
    }

    mutating func effects() -> [RecordedEffect] {
        let serial = number()
        let paths: [RecordedEffect.Path] = [
            .passed, .delivery(serial), .group(serial), .briefing(serial), .receipt(.limited), .outboxFull,
        ]
        return list {
            RecordedEffect(rule: $0.text(), sink: $0.text(), path: paths.randomElement(using: &$0.generator) ?? .passed)
        }
    }
}

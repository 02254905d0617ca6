internal import GLibRuntime
internal import Glibc
internal import RelayCore
internal import RelayRules
internal import RelayStream

/// What the relay is doing, for the request `status`.
@MainLoop
struct StatusAnswer {
    private let relay: Relay

    /// The most receipts that are listed, so that an answer stays below what a connection may hold.
    private static let mostReceipts = 5000

    /// Creates the answer of a relay.
    init(_ relay: Relay) {
        self.relay = relay
    }

    /// The answer.
    func value() async -> JSONValue {
        let now = relay.parts.clock.moment()
        let receipts = await relay.receipts()
        let overflows = await relay.journal.overflows()
        let silences = await relay.journal.silences(at: now)
        let counters = await relay.counters()
        let full = await relay.journal.outboxFull()
        return .object([
            ("ok", true), ("version", .string(Version.number)), ("pid", .number(Int(getpid()))),
            ("startedAt", .time(relay.startedAt.wall)), ("now", .time(now.wall)),
            ("uptimeSeconds", .number(Int((now.relay - relay.startedAt.relay).components.seconds))),
            (
                "rules",
                .object([
                    ("file", .optional(relay.parts.rulesPath)), ("since", .time(relay.inForceSince)),
                    ("count", .number(relay.configuration.rules.rules.count)),
                ])
            ),
            ("streams", .array(relay.streams.statuses.map { stream($0, now) })),
            ("sinks", .object(sinks(counters, full))),
            ("receipts", .array(receipts.prefix(Self.mostReceipts).map(receipt))),
            ("receiptsOmitted", .number(max(0, receipts.count - Self.mostReceipts))),
            (
                "overflows",
                .object([
                    ("groups", .number(overflows.groups)), ("limitKeys", .number(overflows.limitKeys)),
                    ("repeatKeys", .number(overflows.repeatKeys)),
                ])
            ),
            ("silences", .array(silences.map(\.json))),
        ])
    }

    private func stream(_ status: StreamStatus, _ now: Moment) -> JSONValue {
        // A time of relay time, as the wall clock shows it now.
        func shown(_ instant: Instant?) -> JSONValue { .time(instant.map { now.wall + ($0 - now.relay) }) }
        return .object([
            ("name", .string(status.stream)), ("state", .string(status.state.rawValue)), ("since", shown(status.since)),
            ("cause", .string(status.cause)), ("isRefused", .bool(status.isRefused)),
            ("attempts", .number(status.attempts)), ("lastError", .optional(status.lastError)),
            ("nextDialAt", shown(status.nextDialAt)), ("lastBytesAt", shown(status.lastBytesAt)),
            ("connections", .number(status.connections)), ("messages", .number(status.messages)),
            ("isCatchingUp", .bool(status.isCatchingUp)), ("catchUpError", .optional(status.catchUpError)),
        ])
    }

    private func sinks(
        _ counters: [String: SinkCounters], _ full: [OutboxFullCount]
    ) -> [(name: String, value: JSONValue)] {
        let (names, stopped) = (relay.sinks.names, relay.sinks.stopped)
        let former = counters.keys.filter { !names.contains($0) }.sorted()
        return (names + former).map { name in
            let counters = counters[name] ?? SinkCounters()
            let refused = full.reduce(0) { $1.sink == name ? $0 + $1.count : $0 }
            return (
                name,
                .object([
                    ("effects", .number(counters.effects)), ("delivered", .number(counters.delivered)),
                    ("suppressed", .number(counters.suppressed)), ("pending", .number(counters.pending)),
                    ("dead", .number(counters.dead)), ("outboxFull", .number(refused)),
                    ("inFile", .bool(names.contains(name))),
                    ("stopped", .optional(stopped[name])),
                ])
            )
        }
    }

    private func receipt(_ receipt: ReceiptCount) -> JSONValue {
        .object([
            ("rule", .string(receipt.rule)), ("sink", .string(receipt.sink)),
            ("receipt", .string(receipt.receipt.rawValue)), ("count", .number(receipt.count)),
        ])
    }
}

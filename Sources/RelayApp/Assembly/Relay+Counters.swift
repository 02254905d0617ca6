internal import GLibRuntime
internal import RelayCore
internal import RelayJournal

extension Relay {
    /// The counters of every sink that had an effect.
    func counters() async -> [String: SinkCounters] {
        var counters = await journal.counters()
        for (name, fast) in output?.counters ?? [:] { counters[name, default: SinkCounters()].add(fast) }
        let silenced = streams.allReceipts.filter { $0.sink != "-" }
        for receipt in silenced {
            counters[receipt.sink, default: SinkCounters()].effects += receipt.count
            counters[receipt.sink, default: SinkCounters()].suppressed += receipt.count
        }
        return counters
    }

    /// The receipts by rule, sink and reason, of the journal and of the fast path.
    func receipts() async -> [ReceiptCount] {
        let all = ReceiptTable()
        all.add(await journal.receipts())
        all.add(streams.allReceipts)
        return all.all
    }

    /// Lets what waits for sinks that are not in the rules file grow no older than it may, and tells of it once.
    func watchFormerSinks() async {
        let counters = await journal.counters()
        let former = Set(counters.keys).subtracting(sinks.names)
        let known = ages.sinks
        ages.watch(former)
        for sink in former.subtracting(known).sorted() {
            guard let pending = counters[sink]?.pending, pending > 0 else { continue }
            parts.log(
                .warning, "rules",
                "deliveries of a sink that is not in the rules file wait; move them with `outbox retry --to`",
                [("sink", sink), ("count", String(pending)), ("deadAfter", DurationText.format(ages.giveUp))])
        }
    }

    /// Tells, at the end, what came and what became of it.
    func tellCounters() async {
        let receipts = await receipts()
        let sums = Receipt.allCases.map { reason in
            (name: reason.rawValue, value: receipts.filter { $0.receipt == reason }.reduce(0) { $0 + $1.count })
        }
        let (events, log) = (streams.counters, parts.log)
        log(
            .info, "relay", "stopped",
            [("events", String(events.events)), ("repeated", String(events.duplicates))]
                + sums.filter { $0.value > 0 }.map { ($0.name, String($0.value)) })
        for (sink, counters) in await counters().sorted(by: { $0.key < $1.key }) {
            log(counters.pending > 0 ? .warning : .info, "relay", "counted", [("sink", sink)] + counters.fields)
            guard counters.pending > 0 else { continue }
            let what =
                parts.store == nil
                ? "not sent and lost, since the journal is in memory"
                : "not sent yet; they are sent after the next start"
            log(
                parts.store == nil ? .warning : .info, "relay", what,
                [("sink", sink), ("count", String(counters.pending))])
        }
    }
}

internal import GLibRuntime
internal import RelayCore

/// Events through a relay in virtual time, reported and counted as they go.
@MainLoop
final class Trial: VirtualRelayObserver {
    private let report: any TrialReport
    private(set) var summary: TrialSummary

    /// Creates a trial that tells `report`.
    init(_ names: TrialNames, report: any TrialReport) {
        self.report = report
        summary = TrialSummary(names)
    }

    /// Counts an event whose id had come before.
    func passOver(_ event: Event, at instant: Instant) {
        summary.addRepeated()
        report.repeated(event, at: instant)
    }

    func decided(_ event: Event, _ outcomes: [EffectOutcome], at instant: Instant) {
        summary.add(outcomes)
        report.decided(event, outcomes, at: instant)
    }

    func delivered(_ delivery: Delivery, at instant: Instant) {
        summary.add(delivery)
        report.delivered(delivery, at: instant)
    }

    func limited(_ count: ReceiptCount, at instant: Instant) {
        summary.add(count)
        report.limited(count, at: instant)
    }
}

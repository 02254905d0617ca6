package import RelayCore

/// What became of one effect of an intake, and where it went.
package struct Placement: Sendable, Equatable {
    /// What became of it.
    package var acceptance: Acceptance
    /// The serial of the delivery that was stored, or of the group or briefing that it joined; nil if it ended at once.
    ///
    /// What becomes of that group or briefing, at once or later, is told by a `ClosingRow`.
    package var serial: UInt64?

    /// Creates a placement.
    package init(_ acceptance: Acceptance, serial: UInt64? = nil) {
        self.acceptance = acceptance
        self.serial = serial
    }
}

/// The last charges of a limit key, oldest first.
struct ChargeLog<Charge: Sendable>: Sendable {
    private var charges: [Charge] = []
    private var start = 0

    /// Creates a log of charges, oldest first.
    init(_ charges: [Charge] = []) {
        self.charges = charges
    }

    /// How many are kept.
    var count: Int { charges.count - start }

    /// The last one.
    var last: Charge? { count > 0 ? charges.last : nil }

    /// All that are kept, oldest first.
    var all: ArraySlice<Charge> { charges[start...] }

    /// Returns the charge that has `number - 1` after it.
    func last(_ number: Int) -> Charge? {
        number > 0 && number <= count ? charges[charges.count - number] : nil
    }

    /// Appends a charge and forgets the oldest beyond `max`.
    mutating func append(_ charge: Charge, keeping max: Int) {
        charges.append(charge)
        if count > max { start = charges.count - max }
        // The memory of those forgotten is given back once they are as many as those kept.
        if start > count {
            charges.removeFirst(start)
            start = 0
        }
    }

    /// Changes every charge that is kept.
    mutating func modifyAll(_ change: (inout Charge) -> Void) {
        for index in start..<charges.count { change(&charges[index]) }
    }
}

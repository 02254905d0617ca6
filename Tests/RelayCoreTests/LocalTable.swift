import GLibRuntime
import RelayCore
import Testing

/// The minutes of some days in a zone, written out one by one: a model that knows no calendar.
struct LocalTable {
    let zone: Zone
    /// The first minute, counted from 1970-01-01T00:00Z.
    let start: Int
    /// The local minute of each minute, counted from the same day.
    private let locals: [Int]
    /// The first minute of each local minute.
    private let firsts: [Int: Int]

    /// Writes out the 25 days around one.
    init(_ name: String, around day: Int) throws {
        zone = try #require(Zone(named: name))
        start = (day - 10) * 1440
        var locals: [Int] = []
        for minute in start..<start + 25 * 1440 {
            locals.append(minute + Int(zone.offset(at: Int64(minute) * 60)) / 60)
        }
        self.locals = locals
        firsts = Dictionary(zip(locals, start...)) { first, _ in first }
    }

    /// The minutes that are written out.
    var minutes: Range<Int> { start..<start + locals.count }

    /// The first minute with a local time; one that is left out moves forward by the gap.
    ///
    /// Nil outside of the table.
    func minute(ofLocal local: Int) -> Int? {
        guard let first = locals.first, let last = locals.last, first <= local, local <= last else { return nil }
        if let minute = firsts[local] { return minute }
        guard let after = locals.firstIndex(where: { $0 > local }), after > 0 else { return nil }
        return start + after - 1 + (local - locals[after - 1])
    }

    /// The local days that lie in the table whole.
    var days: Range<Int> {
        guard let first = locals.first, let last = locals.last else { return 0..<0 }
        return first / 1440 + 1..<last / 1440
    }

    /// Every minute, on if a range of the time covers it.
    func states(of time: QuietTime) -> [Bool] {
        var states = [Bool](repeating: false, count: locals.count)
        for day in days {
            // 1970-01-01 was a Thursday.
            guard time.days[(day + 3) % 7], let from = minute(ofLocal: day * 1440 + time.from),
                let to = minute(ofLocal: (time.to > time.from ? day : day + 1) * 1440 + time.to), from < to
            else { continue }
            for minute in from..<min(to, minutes.upperBound) { states[minute - start] = true }
        }
        return states
    }

    /// The days around which something is unusual, in zones of every sort.
    static let cases: [(String, Int)] = [
        ("Europe/Berlin", 20_541), ("Europe/Berlin", 20_751), ("America/New_York", 20_520),
        ("America/New_York", 20_758), ("Australia/Lord_Howe", 20_548), ("Australia/Lord_Howe", 20_730),
        ("Asia/Tokyo", 20_541), ("Pacific/Apia", 15_338),
    ]
}

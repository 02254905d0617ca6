package import GLibRuntime

/// A recurring range of times of day in a zone: an entry of `times`.
package struct QuietTime: Sendable, Equatable {
    /// A time of day in minutes since midnight, from 0 to 1440 (`24:00`).
    package typealias Minute = Int

    /// When the range begins, on each of its days.
    package let from: Minute
    /// When it ends; not after `from` if it crosses midnight.
    package let to: Minute
    /// The days on which it begins, Monday first.
    package let days: [Bool]
    /// The zone of its times.
    package let zone: Zone

    /// Creates a range; `from` and `to` differ, and `days` has seven elements.
    package init(from: Minute, to: Minute, days: [Bool] = Array(repeating: true, count: 7), zone: Zone) {
        self.from = from
        self.to = to
        self.days = days
        self.zone = zone
    }

    /// Whether a range is on, and until when.
    package struct State: Sendable, Equatable {
        /// Whether the range is on.
        package var isOn: Bool
        /// The next instant at which it may be otherwise: the end, or the next beginning, at most nine days away.
        package var until: Instant

        /// Creates a state.
        package init(isOn: Bool, until: Instant) {
            self.isOn = isOn
            self.until = until
        }
    }

    /// Returns the state at an instant of the wall clock.
    ///
    /// Ranges of different days that touch or overlap are one.
    package func state(at wall: Instant) -> State {
        let today = CalendarDay(of: wall, in: zone)
        var state = State(isOn: false, until: today.instant(ofMinute: 0, plusDays: 9, in: zone))
        for offset in -2...9 {
            let (start, end) = range(on: today, plusDays: offset)
            guard start < end, days[today.weekday(plusDays: offset)] else { continue }
            if start <= (state.isOn ? state.until : wall) {
                guard end > wall else { continue }
                state.until = state.isOn ? max(state.until, end) : end
                state.isOn = true
            } else if !state.isOn {
                state.until = min(state.until, start)
            }
        }
        return state
    }

    private func range(on day: CalendarDay, plusDays offset: Int) -> (start: Instant, end: Instant) {
        let start = day.instant(ofMinute: from, plusDays: offset, in: zone)
        return (start, day.instant(ofMinute: to, plusDays: to > from ? offset : offset + 1, in: zone))
    }
}

/// Times of day in a zone at which something happens: the `at` of a digest.
package struct DailyTimes: Sendable, Equatable {
    /// The times in minutes since midnight, 0 to 1439.
    package let minutes: [QuietTime.Minute]
    /// The zone of the times.
    package let zone: Zone

    /// Creates times, at least one.
    package init(minutes: [QuietTime.Minute], zone: Zone) {
        self.minutes = minutes
        self.zone = zone
    }

    /// Returns the first of the times after an instant of the wall clock.
    ///
    /// A time that a day does not have, or has twice, comes once that day.
    package func next(after wall: Instant) -> Instant {
        let today = CalendarDay(of: wall, in: zone)
        var next = Instant.distantFuture
        for offset in -1...2 {
            for minute in minutes {
                let instant = today.instant(ofMinute: minute, plusDays: offset, in: zone)
                if instant > wall { next = min(next, instant) }
            }
        }
        return next
    }
}

/// A day of the calendar of a zone.
private struct CalendarDay {
    /// Days since 1970-01-01.
    private let number: Int64

    /// The day on which an instant lies.
    init(of instant: Instant, in zone: Zone) {
        let seconds = floorDivide(instant.milliseconds, by: 1000)
        number = floorDivide(seconds + zone.offset(at: seconds), by: 86_400)
    }

    /// The day of the week of a day `days` later, from 0 for Monday; 1970-01-01 was a Thursday.
    func weekday(plusDays days: Int) -> Int {
        let sum = (number + Int64(days) + 3) % 7
        return Int(sum < 0 ? sum + 7 : sum)
    }

    /// The instant of a time of day, `days` later.
    func instant(ofMinute minute: QuietTime.Minute, plusDays days: Int, in zone: Zone) -> Instant {
        let local = (number + Int64(days)) * 86_400 + Int64(minute) * 60
        return Instant(milliseconds: zone.time(ofLocal: local) * 1000)
    }
}

private func floorDivide(_ number: Int64, by divisor: Int64) -> Int64 {
    number >= 0 ? number / divisor : -((divisor - 1 - number) / divisor)
}

import GLibRuntime
import RelayCore
import RelayTestKit
import Testing

@Suite(.serialized)
struct QuietTimeTests {
    /// Returns the time of day of a day, counted from 1970-01-01, in UTC.
    private func utc(_ day: Int, _ hour: Int, _ minute: Int = 0) -> Instant {
        Instant(milliseconds: (Int64(day) * 1440 + Int64(hour * 60 + minute)) * 60_000)
    }

    private func time(
        _ from: Int, _ to: Int, days: [Bool] = Array(repeating: true, count: 7), in zone: String = "UTC"
    ) throws -> QuietTime {
        QuietTime(from: from, to: to, days: days, zone: try #require(Zone(named: zone)))
    }

    @Test func aNightCrossesMidnightAndIsHalfOpen() throws {
        let night = try time(22 * 60, 7 * 60)
        let day = 20_541
        #expect(night.state(at: utc(day, 21, 59)) == .init(isOn: false, until: utc(day, 22)))
        #expect(night.state(at: utc(day, 22)) == .init(isOn: true, until: utc(day + 1, 7)))
        #expect(night.state(at: utc(day + 1, 0)) == .init(isOn: true, until: utc(day + 1, 7)))
        #expect(night.state(at: utc(day + 1, 7)) == .init(isOn: false, until: utc(day + 1, 22)))
    }

    @Test func aNightBelongsToTheDayOnWhichItStarts() throws {
        let wednesday = 20_541 - (20_541 + 3) % 7 + 2
        let night = try time(22 * 60, 7 * 60, days: [false, false, true, false, false, false, false])
        #expect(night.state(at: utc(wednesday, 3)) == .init(isOn: false, until: utc(wednesday, 22)))
        #expect(night.state(at: utc(wednesday + 1, 3)) == .init(isOn: true, until: utc(wednesday + 1, 7)))
        #expect(night.state(at: utc(wednesday + 1, 23)) == .init(isOn: false, until: utc(wednesday + 7, 22)))
    }

    @Test func rangesThatTouchAreOne() throws {
        let saturday = 20_541 - (20_541 + 3) % 7 + 5
        let weekend = try time(0, 24 * 60, days: [false, false, false, false, false, true, true])
        #expect(weekend.state(at: utc(saturday - 1, 23)) == .init(isOn: false, until: utc(saturday, 0)))
        #expect(weekend.state(at: utc(saturday, 0)) == .init(isOn: true, until: utc(saturday + 2, 0)))
    }

    @Test func theNightsOfAChangeOfTheClocksAreAnHourShorterAndLonger() throws {
        let night = try time(22 * 60, 7 * 60, in: "Europe/Berlin")
        // 2026-03-29 and 2026-10-25.
        #expect(night.state(at: utc(20_540, 21)) == .init(isOn: true, until: utc(20_541, 5)))
        #expect(night.state(at: utc(20_750, 20)) == .init(isOn: true, until: utc(20_751, 6)))
    }

    @Test(arguments: LocalTable.cases)
    func statesAreThoseOfAModelThatCountsMinutes(_ zone: String, _ day: Int) async throws {
        let table = try LocalTable(zone, around: day)
        for seed in 0..<130 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            let from = Int.random(in: 0..<1440, using: &random)
            let to = from == 0 ? 1440 : Int.random(in: 0..<from, using: &random)
            let isNight = Bool.random(using: &random)
            let quiet = QuietTime(
                from: isNight ? from : to % 1440, to: isNight ? to : (from == 0 ? 1440 : from),
                days: (0..<7).map { _ in Int.random(in: 0..<4, using: &random) > 0 }, zone: table.zone)
            guard quiet.from != quiet.to else { continue }
            let states = table.states(of: quiet)
            // Tests beside this one wait for real sockets.
            await Task.yield()
            for _ in 0..<6 {
                let index = Int.random(in: 8 * 1440..<13 * 1440, using: &random)
                let instant = Instant(
                    milliseconds: Int64(table.start + index) * 60_000 + Int64.random(in: 0..<60_000, using: &random))
                let state = quiet.state(at: instant)
                #expect(state.isOn == states[index], "seed \(seed), minute \(index)")
                let change = states[index..<index + 8 * 1440].firstIndex { $0 != states[index] }
                if let change {
                    let until = Instant(milliseconds: Int64(table.start + change) * 60_000)
                    #expect(state.until == until, "seed \(seed), minute \(index)")
                } else {
                    #expect(state.until >= instant + .seconds(7 * 86_400), "seed \(seed), minute \(index)")
                }
            }
        }
    }

    @Test(arguments: LocalTable.cases)
    func timesOfDayComeOnceADay(_ zone: String, _ day: Int) throws {
        let table = try LocalTable(zone, around: day)
        for seed in 0..<130 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            // Many of them inside of the hours that are left out or come twice.
            let minutes = (0..<Int.random(in: 1...3, using: &random)).map { _ in
                Bool.random(using: &random)
                    ? Int.random(in: 60..<180, using: &random) : Int.random(in: 0..<1440, using: &random)
            }
            let times = DailyTimes(minutes: minutes, zone: table.zone)
            let expected = Set(
                table.days.flatMap { day in minutes.compactMap { table.minute(ofLocal: day * 1440 + $0) } })
            let (first, last) = (table.start + 5 * 1440, table.start + 20 * 1440)
            var now = Instant(milliseconds: Int64(first) * 60_000)
            var seen: [Int] = []
            while seen.count < 200 {
                now = times.next(after: now)
                let minute = Int(now.milliseconds / 60_000)
                if minute > last { break }
                seen.append(minute)
            }
            #expect(seen == expected.filter { $0 > first && $0 <= last }.sorted(), "seed \(seed)")
        }
    }

    @Test func anAtThatDoesNotExistOrExistsTwiceComesOnce() throws {
        let times = DailyTimes(minutes: [150], zone: try #require(Zone(named: "Europe/Berlin")))
        // 02:30 does not exist on 2026-03-29 and moves to 03:30.
        #expect(times.next(after: utc(20_541, 0)) == utc(20_541, 1, 30))
        #expect(times.next(after: utc(20_541, 1, 30)) == utc(20_542, 0, 30))
        // It exists twice on 2026-10-25, and the first is meant.
        #expect(times.next(after: utc(20_751, 0)) == utc(20_751, 0, 30))
        #expect(times.next(after: utc(20_751, 0, 30)) == utc(20_752, 1, 30))
    }
}

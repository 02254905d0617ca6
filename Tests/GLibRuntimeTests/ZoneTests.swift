import GLibRuntime
import Testing

struct ZoneTests {
    @Test(arguments: ["Europe/Berlin", "UTC", "America/Argentina/Buenos_Aires", "Etc/GMT+5", "EST5EDT"])
    func namesOfTheTableAreZones(_ name: String) {
        #expect(Zone(named: name)?.name == name)
    }

    @Test(arguments: [
        "", "Europe/Berlinn", "europe/berlin ", "Europe", "+02:00", "Z+2", "CET-1CEST", "/etc/localtime",
        "../zoneinfo/UTC", ":UTC", "Europe/../UTC", "leapseconds", "tzdata.zi",
    ])
    func nothingElseIsAZone(_ name: String) {
        #expect(Zone(named: name) == nil)
    }

    @Test func aLocalTimeInAGapMovesForwardAndOfTwoTheFirstIsMeant() throws {
        let berlin = try #require(Zone(named: "Europe/Berlin"))
        let (spring, autumn) = (Int64(20_541 * 86_400), Int64(20_751 * 86_400))
        #expect(berlin.time(ofLocal: spring + 7199) == spring + 3599)
        #expect(berlin.time(ofLocal: spring + 9000) == spring + 5400)
        #expect(berlin.time(ofLocal: spring + 10_800) == spring + 3600)
        #expect(berlin.time(ofLocal: autumn + 9000) == autumn + 1800)
        #expect(berlin.time(ofLocal: autumn + 10_800) == autumn + 7200)
    }

    @Test func halfAnHourAndAWholeDayAreGapsToo() throws {
        let island = try #require(Zone(named: "Australia/Lord_Howe"))
        // 2026-10-04: 02:00 becomes 02:30.
        let day = Int64(20_730 * 86_400)
        #expect(island.offset(at: day) - island.offset(at: day - 86_400) == 1800)
        let local = day + 2 * 3600 + 600
        #expect(island.time(ofLocal: local) + island.offset(at: day) == local + 1800)
        let apia = try #require(Zone(named: "Pacific/Apia"))
        // 2011-12-30 was left out: its noon is that of the next day.
        let noon = Int64(15_338 * 86_400 + 43_200)
        #expect(apia.time(ofLocal: noon) == apia.time(ofLocal: noon + 86_400))
    }
}

import GLibRuntime
import Testing

struct ZoneTableTests {
    @Test(arguments: ["Europe/Berlin", "America/New_York", "America/Argentina/Ushuaia", "Etc/GMT+1", "UTC", "CET"])
    func namesOfTheTableAreZones(_ name: String) throws {
        guard case .zone(let zone) = ZoneTable.look(up: name) else {
            Issue.record("\(name) is not found")
            return
        }
        #expect(zone.name == name)
        #expect(!zone.identifier.isEmpty)
    }

    @Test(arguments: [
        "", "Europe/Brelin", "Europe", "/etc/localtime", "../zoneinfo/UTC", "+02:00", "Z", "EST5EDT4", "europe/berlin",
        "Europe//Berlin", "Europe/Berlin/", "posix/UTC", "tzdata.zi", "CET-1CEST,M3.5.0,M10.5.0/3", "A\u{0}",
    ])
    func whatElseGLibTakesIsNone(_ name: String) {
        guard case .unknown(let names) = ZoneTable.look(up: name) else {
            Issue.record("\(name) is taken")
            return
        }
        #expect(names.contains("Europe/Berlin") && !names.contains("posix/UTC"))
    }

    @Test func withoutATableOnlyUTCIsThere() {
        guard case .zone = ZoneTable.look(up: "UTC", in: "/nonexistent") else {
            Issue.record("UTC needs no table")
            return
        }
        guard case .noTable = ZoneTable.look(up: "Europe/Berlin", in: "/nonexistent") else {
            Issue.record("there is no table")
            return
        }
    }

    @Test func timesAreShownInAZone() throws {
        guard case .zone(let tokyo) = ZoneTable.look(up: "Asia/Tokyo"),
            case .zone(let york) = ZoneTable.look(up: "America/New_York")
        else {
            Issue.record("no zone")
            return
        }
        let summer: Int64 = 1_782_864_000_000  // 2026-07-01T00:00:00Z
        #expect(LocalTime.dateAndMinute(ofMilliseconds: summer, in: tokyo) == "2026-07-01 09:00")
        #expect(LocalTime.hourAndMinute(ofMilliseconds: summer, in: york) == "20:00")
        #expect(LocalTime.dateAndMinute(ofMilliseconds: -1, in: tokyo) == "1970-01-01 08:59")
        #expect(LocalTime.dateAndMinute(ofMilliseconds: .max, in: tokyo) == "---------- --:--")
    }
}

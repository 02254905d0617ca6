import Glibc
import RelayTestKit
import Testing

@testable import RelayApp

/// What needs the system's zone when there is none: never UTC without a word.
@Suite(.timeLimit(.minutes(1)))
struct SystemZoneTests {
    private let folder: TemporaryFolder
    private let wrong = ["TZ": "Mars/Base"]

    init() throws {
        folder = try TemporaryFolder()
    }

    private func rules(_ rule: String, times: String = "") -> String {
        folder.write(
            "rules.json",
            """
            { "streams": { "s": { "url": "ws://127.0.0.1:9/", "token": { "env": "CHIRP_TOKEN" } } },
            \(times)
            "sinks": { "log": { "type": "stdout" } },
            "rules": [{ "name": "r", "to": ["log"]\(rule) }] }
            """)
    }

    private func check(_ path: String, _ environment: [String: String]) async throws -> RelayProcess.Result {
        var environment = environment
        environment["CHIRP_TOKEN"] = "T"
        return try await RelayProcess.run(["check", path], environment: environment, folder: folder)
    }

    @Test func whatNeedsTheZoneIsAnError() async throws {
        let night = #""times": { "night": { "from": "22:00", "to": "07:00"ZONE } },"#
        let needing: [(rule: String, times: String, place: String, zoned: (rule: String, times: String))] = [
            (
                #", "hold": "night""#, night.replacing("ZONE", with: ""), ": times.night: ",
                (#", "hold": "night""#, night.replacing("ZONE", with: #", "zone": "Europe/Berlin""#))
            ),
            (
                #", "digest": { "at": ["09:00"] }"#, "", ": rules[0].digest.at: ",
                (#", "digest": { "at": ["09:00"], "zone": "Europe/Berlin" }"#, "")
            ),
            (
                #", "body": "{actor} at {createdAt}""#, "", ": rules[0]: ",
                (#", "body": "{actor} at {createdAt}", "zone": "Europe/Berlin""#, "")
            ),
        ]
        for (rule, times, place, zoned) in needing {
            let path = rules(rule, times: times)
            let bad = try await check(path, wrong)
            let sentence = #"TZ names "Mars/Base", which is no zone of the table in "#
            #expect(bad.status == 78 && bad.errors.contains(place) && bad.errors.contains(sentence), "\(bad.errors)")
            #expect(bad.errors.contains(#"write "zone", or set TZ right"#), "\(bad.errors)")
            #expect(try await check(path, ["TZ": "Asia/Seoul"]).status == 0)
            #expect(try await check(rules(zoned.rule, times: zoned.times), wrong).status == 0)
        }
        #expect(try await check(rules(""), wrong).status == 0)
    }

    @Test func anEmptyTableIsTold() async throws {
        let empty = folder.path + "/zoneinfo"
        mkdir(empty, 0o700)
        let bad = try await check(
            rules(#", "digest": { "at": ["09:00"] }"#), ["TZ": "Asia/Seoul", "TZDIR": empty])
        #expect(
            bad.status == 78 && bad.errors.contains("this system has no zone table; install tzdata"), "\(bad.errors)")
    }

    @Test func aTimeOnTheCommandLineWithoutAnOffsetIsRefused() async throws {
        let path = rules("")
        let words = ["explain", "--rules", path, "--kind", "like", "--at"]
        let bad = try await RelayProcess.run(words + ["2026-03-29T02:30"], environment: wrong, folder: folder)
        #expect(bad.status == 1 && bad.errors.contains("TZ names \"Mars/Base\""), "\(bad.errors)")
        let good = try await RelayProcess.run(words + ["2026-03-29T02:30:00Z"], environment: wrong, folder: folder)
        #expect(good.status == 0)
    }
}

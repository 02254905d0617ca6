import FoundationEssentials
import Testing

/// The rules of the layout, read from the sources themselves.
struct RoomImportsTests {
    private struct Source: CustomStringConvertible {
        var path: String
        var lines: [Substring]
        var room: String { String(path.split(separator: "/").first ?? "") }
        var description: String { path }

        var imports: [String] {
            lines.compactMap { line in
                let words = line.split(separator: " ").drop {
                    ["package", "internal", "private", "@testable"].contains($0)
                }
                return words.first == "import" ? words.dropFirst().first.map(String.init) : nil
            }
        }
    }

    private static let rooms: Set = ["RelayStream", "RelayRules", "RelayJournal", "RelaySinks"]
    private static let libraries: Set = ["GLibRuntime", "WebSocketCodec", "HTTPClient", "RelayCore"]
    /// Where each C library may be seen.
    private static let places = [
        "CGLib": "GLibRuntime/", "CCurl": "HTTPClient/", "CSimdjson": "RelayStream/Decoding/",
        "CSQLite": "RelayJournal/SQLite/Database/", "CNotify": "RelaySinks/Desktop/Libnotify.swift",
    ]

    private let sources: [Source]
    private static let root = #filePath.split(separator: "/").dropLast(3).map { "/\($0)" }.joined()

    init() throws {
        let folder = Self.root + "/Sources"
        sources = try FileManager.default.subpathsOfDirectory(atPath: folder).filter { $0.hasSuffix(".swift") }.map {
            let text = String(decoding: try Data(contentsOf: URL(filePath: "\(folder)/\($0)")), as: UTF8.self)
            return Source(path: $0, lines: text.split(separator: "\n", omittingEmptySubsequences: false))
        }
        try #require(sources.count > 100)
    }

    @Test func roomsNeverImportEachOther() {
        for source in sources where Self.rooms.contains(source.room) {
            let others = source.imports.filter { Self.rooms.contains($0) || $0 == "RelayApp" }
            #expect(others.isEmpty, "\(source)")
        }
    }

    @Test func librariesImportNoRoom() {
        for source in sources where Self.libraries.contains(source.room) {
            let rooms = source.imports.filter { Self.rooms.contains($0) || $0 == "RelayApp" }
            #expect(rooms.isEmpty, "\(source)")
        }
    }

    @Test func everyRoomIsKnownToThisTest() {
        let known = Self.rooms.union(Self.libraries).union(["RelayApp", "chirp-relay"])
        #expect(Set(sources.map(\.room)) == known)
    }

    @Test func eachCLibraryIsSeenInItsPlaceOnly() {
        for source in sources {
            for module in source.imports where module.hasPrefix("C") && module.dropFirst().first?.isUppercase == true {
                let place = Self.places[module]
                #expect(place.map { source.path.hasPrefix($0) } == true, "\(source) imports \(module)")
            }
        }
    }

    @Test func rulesImportNothingThatDoesInputOrOutput() {
        for source in sources where source.room == "RelayRules" {
            #expect(Set(source.imports).isSubset(of: ["RelayCore", "GLibRuntime"]), "\(source)")
        }
    }

    @Test func nothingIsPublic() {
        for source in sources {
            #expect(!source.lines.contains { $0.drop { $0 == " " }.hasPrefix("public ") }, "\(source)")
        }
    }

    @Test func noFileIsLong() {
        for source in sources { #expect(source.lines.count <= 401, "\(source) has \(source.lines.count) lines") }
    }

    @Test func theTopLevelHoldsTheKnownEntriesOnly() throws {
        let entries = try FileManager.default.contentsOfDirectory(atPath: Self.root).filter { !$0.hasPrefix(".") }
        let known: Set = ["Package.swift", "Sources", "Tests", "rules.example.json", "README.md", "contrib"]
        #expect(Set(entries).subtracting(known).isEmpty)
    }
}

// swift-tools-version: 6.2
import PackageDescription

/// What every Swift target is compiled with.
let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// A room or a library of the relay: a Swift target with the shared settings.
func room(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

/// The tests of one room.
func tests(_ name: String, _ dependencies: [Target.Dependency], resources: [Resource] = []) -> Target {
    .testTarget(
        name: name + "Tests", dependencies: [.byName(name: name), "RelayTestKit"] + dependencies,
        resources: resources, swiftSettings: settings)
}

let package = Package(
    name: "chirp-relay",
    traits: [
        .trait(name: "Desktop", description: "Desktop popups through libnotify."),
        .default(enabledTraits: ["Desktop"]),
    ],
    targets: [
        // System libraries as the compiler sees them.
        .systemLibrary(name: "CGLib", pkgConfig: "gio-unix-2.0", providers: [.apt(["libglib2.0-dev"])]),
        .systemLibrary(name: "CNotify", pkgConfig: "libnotify", providers: [.apt(["libnotify-dev"])]),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .target(name: "CSimdjson", linkerSettings: [.linkedLibrary("simdjson")]),
        // Needs the header of libcurl4-openssl-dev; the library is loaded when it is first needed.
        .target(name: "CCurl"),

        // Libraries that any room may import.
        room("GLibRuntime", ["CGLib"]),
        room("WebSocketCodec", ["GLibRuntime"]),
        room("HTTPClient", ["CCurl", "GLibRuntime"]),
        room("RelayCore", ["GLibRuntime"]),

        // The rooms, in the order of the flow. They never import each other.
        room("RelayStream", ["RelayCore", "GLibRuntime", "WebSocketCodec", "HTTPClient", "CSimdjson"]),
        room("RelayRules", ["RelayCore", "GLibRuntime"]),
        room("RelayJournal", ["RelayCore", "GLibRuntime", "CSQLite"]),
        .target(
            name: "RelaySinks",
            dependencies: [
                "RelayCore", "GLibRuntime", "HTTPClient",
                .target(name: "CNotify", condition: .when(traits: ["Desktop"])),
            ],
            swiftSettings: settings),

        // Assembly. The example of the demo and the schema are links to the files at the top and in contrib.
        .target(
            name: "RelayApp",
            dependencies: [
                "RelayCore", "GLibRuntime", "WebSocketCodec", "HTTPClient", "RelayStream", "RelayRules", "RelayJournal",
                "RelaySinks",
            ],
            resources: [.embedInCode("Demo/rules.example.json"), .embedInCode("Demo/rules.schema.json")],
            swiftSettings: settings),
        .executableTarget(name: "chirp-relay", dependencies: ["RelayApp"], swiftSettings: settings),

        // The program that the WebSocket conformance suite talks to.
        .executableTarget(
            name: "websocket-echo", dependencies: ["GLibRuntime", "WebSocketCodec"],
            path: "contrib/acceptance/websocket-echo", swiftSettings: settings),
        // The program that measures the journal.
        .executableTarget(
            name: "journal-load", dependencies: ["GLibRuntime", "RelayCore", "RelayJournal"],
            path: "contrib/bench/journal-load", swiftSettings: settings),

        .target(
            name: "RelayTestKit", dependencies: ["RelayCore", "GLibRuntime", "WebSocketCodec"],
            path: "Tests/RelayTestKit", swiftSettings: settings),
        tests("GLibRuntime", []),
        tests("WebSocketCodec", []),
        tests("HTTPClient", ["GLibRuntime"]),
        tests("RelayCore", ["GLibRuntime"]),
        tests("RelayStream", ["RelayCore", "GLibRuntime", "WebSocketCodec"]),
        tests("RelayRules", ["RelayCore", "GLibRuntime"]),
        // A layer under SQLite that loses what was not synced when the power goes.
        .target(name: "CPowerCut", dependencies: ["CSQLite"], path: "Tests/CPowerCut"),
        tests("RelayJournal", ["RelayCore", "GLibRuntime", "CPowerCut"]),
        tests("RelaySinks", ["RelayCore", "GLibRuntime", "HTTPClient"]),
        tests(
            "RelayApp",
            ["RelayCore", "GLibRuntime", "WebSocketCodec", "RelayJournal", "RelayRules", "RelaySinks", "RelayStream"]),
    ],
    swiftLanguageModes: [.v6],
    cxxLanguageStandard: .cxx17
)

import FoundationEssentials
import GLibRuntime
import Glibc
import RelayTestKit
import Testing
import WebSocketCodec

@testable import RelayApp

/// The example that users copy is right, and does what its comments say.
@Suite(.timeLimit(.minutes(1)))
@MainLoop
struct RulesExampleTests {
    private let text: String

    init() throws {
        let root = #filePath.split(separator: "/").dropLast(3).map { "/\($0)" }.joined()
        text = String(decoding: try Data(contentsOf: URL(filePath: root + "/rules.example.json")), as: UTF8.self)
    }

    @Test func theDemoHasTheSameExample() {
        #expect(text == String(decoding: PackageResources.rules_example_json, as: UTF8.self))
    }

    @Test func checkFindsNothingWrong() async throws {
        let folder = try TemporaryFolder()
        let result = try await RelayProcess.run(
            ["check", "--strict", "-"], environment: ["CHIRP_TOKEN": "T"], input: text, folder: folder)
        #expect(result.status == 0 && result.errors.isEmpty)
        #expect(result.output.hasPrefix("-: ok (streams: 1, sinks: 2, rules: 7)\n"), "\(result)")
    }

    /// An event, the beginning of its line, and the title, body, link and urgency of its popup.
    private struct Example {
        var actor: String
        var kind: String
        var text: String?
        var line: String?
        var popup: [String]?

        init(_ actor: String, _ kind: String, _ text: String? = nil, line: String?, popup: [String]? = nil) {
            (self.actor, self.kind, self.text, self.line, self.popup) = (actor, kind, text, line, popup)
        }
    }

    private static let post = "https://chirp.example.com/posts/p1"
    private static let examples = [
        Example("news_bot", "comment", "Buy?", line: nil),
        Example("PROMO_deals", "like", line: nil),
        Example(
            "eve", "like", line: "eve liked your post  \(post)",
            popup: ["eve liked your post", "", post, "likes, hourly"]),
        Example(
            "eve", "comment", "Where?", line: "eve commented on your post — Where?  \(post)",
            popup: ["eve asks", "Where?", post, "questions"]),
        Example(
            "zoë", "like", line: "zoë liked your post  \(post)", popup: ["zoë liked your post", "", post, "friends"]),
        Example(
            "eve", "comment", "Nice", line: "eve commented on your post — Nice  \(post)",
            popup: ["eve wrote", "Nice", post, "comments"]),
        Example("eve", "comment", "Get FREE money!", line: "eve commented on your post — Get FREE money!  \(post)"),
        Example(
            "a/b", "follow", line: "a/b followed you",
            popup: ["a/b followed you", "", "https://chirp.example.com/users/a%2Fb", "new followers"]),
        Example("eve", "poked", line: "eve"),
    ]

    private func event(_ number: Int, _ example: Example) -> String {
        let text = example.text.map { #","text":"\#($0)""# } ?? ""
        let post = example.kind == "follow" ? "null" : "\"p1\""
        return #"{"id":"00000000-0000-4000-8000-\#(Rules.digits(number))","kind":"\#(example.kind)","#
            + #""actorUsername":"\#(example.actor)","postID":\#(post),"createdAt":"2030-01-02T03:04:05Z"\#(text)}"#
    }

    /// The file as it is, but for the server's address and for popups, which go to a server of the test.
    @Test func itsRulesDoWhatItsCommentsSay() async throws {
        let server = try ScriptedServer { _ in
            Self.examples.enumerated().map { .text(event($0.offset + 1, $0.element)) }
        }
        let receiver = try ScriptedHTTPServer { _ in .send(ScriptedHTTPServer.answer()) }
        defer {
            server.close()
            receiver.stop()
        }
        let rules = text.replacing("wss://chirp-api.example.com/ws/notifications", with: server.url())
            .replacing(
                #"{ "type": "desktop" }"#,
                with: #"{ "type": "webhook", "url": "\#(receiver.url())", "ordered": true }"#
            )
            // Whether it is night where the test runs must not matter.
            .replacing(#""hold": "night","#, with: "")
        let (lines, popups) = (Self.examples.compactMap(\.line), Self.examples.compactMap(\.popup))
        let result = try await EndToEnd().relay(rules) { process in
            await process.lines(lines.count)
        }
        #expect(result.status == 0)
        let printed = result.output.split(separator: "\n")
        #expect(printed.count == lines.count)
        for (line, expected) in zip(printed, lines) {
            // `HH:MM` and two spaces stand before the text.
            #expect(line.dropFirst(7).hasPrefix(expected))
        }
        let shown = receiver.requests.compactMap { Line(String(decoding: $0.body, as: UTF8.self)) }
        // The digest of likes closes at the end, after what came behind it.
        let told = shown.map { [$0.title, $0.body, $0.link ?? "-", $0.rule] }
        #expect(Set(told) == Set(popups) && told.count == popups.count)
        #expect(Counters(of: "desktop", in: result.errors) == Counters(effects: popups.count, delivered: popups.count))
        #expect(result.errors.contains("dropped=2"))
    }
}

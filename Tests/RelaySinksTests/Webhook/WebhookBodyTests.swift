import Foundation
import RelayCore
import Testing

@testable import RelaySinks

struct WebhookBodyTests {
    private func template(_ json: String) throws -> JSONTemplate {
        let problems = Problems()
        let node = try #require(ConfigurationParser.parse(Array(json.utf8), problems: problems))
        let template = try #require(JSONTemplate.read(node, problems))
        #expect(problems.all.isEmpty)
        return template
    }

    private func object(_ bytes: [UInt8]) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
    }

    private func delivery(actor: String? = "alice", title: String = "title", body: String = "body") -> Delivery {
        var delivery = Delivery.sample(key: "KEY7", title: title, body: body)
        delivery.content = .event(.sample(actor: actor))
        return delivery
    }

    @Test func defaultIsTheLineWithTheSink() throws {
        var line: [UInt8] = []
        let delivery = delivery()
        NoticeLine.append(delivery, sink: "sink", to: &line)
        #expect(WebhookBody.bytes(of: delivery, nil) == line)
        #expect(try object(line)["sink"] as? String == "sink")
    }

    @Test func templateIsFilled() throws {
        let template = try template(
            #"""
            {"id": "{id}", "actor": "by {actor}", "kind": "{kind}", "post": "{post}", "posts": "<{post}>", "at": "{createdAt}",
             "all": ["{stream}", "{title}", "{body}", "{link}", "{rule}", "{sink}", "{key}", "{text}"], "n": 1.50, "b": true,
             "z": null, "braces": "{{}}", "quote\"d": "\u00e9\n"}
            """#)
        let bytes = WebhookBody.bytes(of: delivery(), template)
        #expect(
            String(decoding: bytes, as: UTF8.self)
                == #"{"id":"11111111-1111-4111-8111-111111111111","actor":"by alice","kind":"like","post":null,"posts":"<>","#
                + #""at":"2030-01-02T03:04:05Z","all":["chirp","title","body",null,"everything","sink","KEY7",null],"n":1.50,"#
                + #""b":true,"z":null,"braces":"{}","quote\"d":"é\u000a"}"#)
    }

    @Test(arguments: HostileText.all)
    func hostileTextStaysText(text: String) throws {
        let template = try template(#"{"a": "{actor}", "t": "x{title}y{body}z"}"#)
        let delivery = delivery(actor: text, title: text, body: text)
        let object = try object(WebhookBody.bytes(of: delivery, template))
        #expect(object.count == 2)
        #expect(Array((object["a"] as? String ?? "").utf8) == Array(text.utf8))
        #expect(Array((object["t"] as? String ?? "").utf8) == Array("x\(text)y\(text)z".utf8))
        let line = try self.object(WebhookBody.bytes(of: delivery, nil))
        #expect(Array((line["actor"] as? String ?? "").utf8) == Array(text.utf8))
        #expect(Array((line["title"] as? String ?? "").utf8) == Array(text.utf8))
    }

    static let long = [
        String(repeating: "a", count: 70_000), String(repeating: "\u{1}", count: 30_000),
        String(repeating: "👨‍👩‍👧‍👦", count: 9000), String(repeating: "é\"\\", count: 20_000),
        "a" + String(repeating: "\u{301}", count: 60_000),
        String(repeating: "\u{202e}", count: 40_000),
    ]

    @Test(arguments: long)
    func longTextIsCutBetweenGraphemes(text: String) throws {
        for template in [nil, try template(#"["{title}", "{body}", "{actor}", "{title}"]"#)] {
            let delivery = delivery(actor: "alice", title: text, body: text)
            let bytes = WebhookBody.bytes(of: delivery, template)
            #expect(bytes.count <= 64 * 1024)
            #expect(bytes == WebhookBody.bytes(of: delivery, template))
            let value = try JSONSerialization.jsonObject(with: Data(bytes))
            let shown = (value as? [String: Any])?["title"] as? String ?? (value as? [Any])?.first as? String ?? ""
            #expect(shown.hasSuffix("…"))
            #expect(Array(text).starts(with: Array(shown.dropLast())))
            if template == nil { #expect((value as? [String: Any])?["actor"] as? String == "alice") }
        }
    }

    /// The worst that a file may ask for and a stranger may send still fits.
    @Test func everythingTooLongAtOnceFits() throws {
        let template = try template(
            #"["\#(String(repeating: "f", count: 32_000))", "\#(String(repeating: "{actor}", count: 64))"]"#)
        let text = String(repeating: "\u{1}", count: 100_000)
        var delivery = delivery(actor: text, title: text, body: text)
        delivery.notice.link = UntrustedText("https://h.test/" + text)
        for template in [nil, template] {
            let bytes = WebhookBody.bytes(of: delivery, template)
            #expect(bytes.count <= 64 * 1024)
            _ = try JSONSerialization.jsonObject(with: Data(bytes))
        }
    }

    @Test func bodyJustWithinTheLimitIsNotCut() {
        let empty = WebhookBody.bytes(of: delivery(title: ""), nil).count
        let text = String(repeating: "a", count: 64 * 1024 - empty)
        #expect(WebhookBody.bytes(of: delivery(title: text), nil).count == 64 * 1024)
        #expect(WebhookBody.bytes(of: delivery(title: text + "a"), nil).count < 64 * 1024)
    }
}

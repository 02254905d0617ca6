import GLibRuntime
import RelayCore
import Testing

@testable import RelayRules

struct RenderTests {
    private func rules(_ members: String, streamLink: String? = nil) throws -> RuleSet {
        var links: [String: LinkTemplate] = [:]
        if let streamLink {
            let node = ConfigurationNode(.string(streamLink), at: Position(line: 1, column: 1), path: "")
            links["chirp"] = LinkTemplate.read(node, Problems())
        }
        let loaded = load(file(rules: "{\"name\": \"r\", \"to\": [\"log\"] \(members)}"), streamLinks: links)
        #expect(loaded.lines.isEmpty)
        return try #require(loaded.rules)
    }

    @Test(arguments: [
        (event(), "ann liked your post", ""),
        (event(kind: "comment", text: "hello\nyou"), "ann commented on your post", "hello\nyou"),
        (event(kind: "follow"), "ann followed you", ""), (event(kind: "poll.closed"), "ann: poll.closed", ""),
        (event(kind: "x\u{1B}", text: "t"), "ann: x", "t"), (event(actor: nil), "someone liked your post", ""),
        (event(actor: ""), "someone liked your post", ""),
        (event(actor: "\u{200B}\u{202E}\n"), "someone liked your post", ""),
        (event(kind: "Like"), "ann: Like", ""), (event(actor: "a\r\nb\u{1B}[2J"), "a b[2J liked your post", ""),
    ])
    func defaultsAreGoodEnough(_ event: Event, _ title: String, _ body: String) throws {
        let notice = try rules("").notice(event)
        #expect(notice.title.string == title)
        #expect(notice.body.string == body)
        #expect(notice.link.isEmpty)
        #expect(notice.urgency == .normal)
        #expect(notice.rule == "r")
        #expect(notice.suppressed == 0)
    }

    @Test func templatesAreFilledWithCleanText() throws {
        let set = try rules(
            #", "title": "{{{kind}}} {actor}: {text}", "body": "{text}|{post}|{id}|{stream}|{createdAt}", "urgency": "critical""#
        )
        let notice = set.notice(event(kind: "comment", actor: "é\u{7}{id}", text: "a\n\u{9B}b"))
        #expect(notice.title.string == "{comment} é{id}: a b")
        #expect(notice.body.string == "a\nb||id-1|chirp|\(LocalTime.dateAndMinute(ofMilliseconds: 1_893_553_445_000))")
        #expect(notice.urgency == .critical)
    }

    @Test func anEmptyTitleGivesTheUsualOne() throws {
        #expect(try rules(#", "title": "{text}""#).notice(event()).title.string == "ann liked your post")
    }

    @Test(
        arguments: [
            (#", "link": "https://r.example/{post}""#, "p/1", "https://e.example/x", "https://r.example/p%2F1"),
            (#", "link": "https://r.example/{post}""#, nil, "https://e.example/x", "https://e.example/x"),
            (#", "link": "https://r.example/{post}""#, nil, nil, ""),
            ("", "p/1", "https://e.example/x", "https://e.example/x"),
            ("", "p/1", nil, "https://s.example/p%2F1"), ("", "p/1", "javascript:alert(1)", "https://s.example/p%2F1"),
            ("", nil, "file:///etc/passwd", ""), ("", nil, nil, ""),
        ] as [(String, String?, String?, String)])
    func linkOfTheRuleThenOfTheEventThenOfTheStream(
        _ members: String, _ post: String?, _ link: String?, _ expected: String
    ) throws {
        let set = try rules(members, streamLink: "https://s.example/{post}")
        #expect(set.notice(event(post: post, link: link)).link.string == expected)
        if members.isEmpty, link == nil { #expect(set.notice(event(post: post, stream: "other")).link.isEmpty) }
    }

    @Test func hostileNamesLeaveNoControlCharacters() throws {
        let set = try rules(#", "title": "{actor}", "body": "{actor}: {text}", "link": "https://a.example/u/{actor}""#)
        let names = [
            "\u{1B}[2J\u{1B}]0;x\u{7}", "\u{1B}]52;c;aGk=\u{7}", "\u{9B}31m", "\u{8}\u{8}", "\r\nfake line",
            "<!channel>",
            "@everyone", "\u{202E}gnp.exe", "a" + String(repeating: "\u{301}", count: 2000), "../../x?y#z", "A&B <3",
            String(repeating: "A", count: 70_000), "--help", "\u{0}", "\u{FEFF}alice", "https://evil.example/",
        ]
        for name in names {
            let notice = set.notice(event(actor: name, text: name))
            for text in [notice.title.string, notice.body.string, notice.link.string] {
                let isClean = text.unicodeScalars.allSatisfy { scalar in
                    scalar == "\n" || ![.control, .format, .lineSeparator].contains(scalar.properties.generalCategory)
                }
                #expect(isClean, "\(name.prefix(20).debugDescription)")
            }
            #expect(!notice.title.string.contains("\n"))
            #expect(notice.link.string.hasPrefix("https://a.example/u/"))
            #expect(!notice.link.string.dropFirst(20).contains { "/?#:@ ".contains($0) })
        }
    }

    @Test func receiptsOfNobodyAreRenderedToo() throws {
        var notice = Notice()
        try rules("").render(
            Effect(rule: Effect.nobody, sink: Effect.nobody, action: .suppress(.unmatched)), event(), into: &notice)
        #expect(notice.title.string == "ann liked your post")
        #expect(notice.rule.isEmpty)
    }
}

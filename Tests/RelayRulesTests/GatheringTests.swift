import RelayCore
import Testing

@testable import RelayRules

/// How digests and briefings read.
struct GatheringTests {
    private static let lists = #"{"friends": ["zoë", "yan"]}"#

    private func rules(_ members: String = "", more: String = "") throws -> RuleSet {
        let rule = "{\"name\": \"r\", \"to\": [\"log\"], \"digest\": {\"window\": \"1h\"} \(members)}"
        let loaded = load(file(rules: rule + more, lists: Self.lists))
        #expect(loaded.lines == [])
        return try #require(loaded.rules)
    }

    private func gathering(_ events: [Event], rule: String = "r") -> Gathering {
        var gathering = Gathering()
        for event in events { gathering.add(.init(event, rule: rule)) }
        return gathering
    }

    private func likes(_ actors: [String?], post: String? = "p") -> [Event] {
        actors.map { event(actor: $0, post: post) }
    }

    private func title(_ events: [Event], _ members: String = "") throws -> String {
        try rules(members).notice(rule: 0, for: gathering(events), suppressed: 0).title.string
    }

    @Test func usualTitlesOfLikes() throws {
        #expect(try title(likes(["ann", "bo"])) == "ann and bo liked your post")
        #expect(try title(likes(["ann", "bo", "Ann", "BO", "cy"])) == "ann, bo and cy liked your post")
        #expect(
            try title(likes(["ann", "bo"] + (0..<311).map { "u\($0)" })) == "ann, bo and 311 others liked your post")
        #expect(try title(likes(["ann", nil, "", "\u{200B}"])) == "ann and someone liked your post")
        #expect(try title(likes(["ann", "ann"])) == "ann liked your post")
        let posts = ["p1", "p2", "p3"].map { event(actor: "ann", post: $0) }
        #expect(try title(posts) == "ann liked 3 of your posts")
        #expect(try title(posts + likes(["bo"], post: nil)) == "ann and bo liked 3 of your posts")
        let upper = "22222222-2222-4222-8222-22222222222A"
        #expect(try title([upper, upper.lowercased()].map { event(post: $0) }) == "ann liked your post")
    }

    @Test func usualTitlesOfOtherKinds() throws {
        func events(_ kinds: [String], _ actors: [String], post: String? = "p") -> [Event] {
            zip(kinds, actors).map { event(kind: $0, actor: $1, post: post) }
        }
        #expect(try title(events(["comment", "comment"], ["ann", "bo"])) == "ann and bo commented on your post")
        #expect(try title(events(["comment", "comment"], ["ann", "ann"])) == "ann commented 2 times on your post")
        #expect(try title(events(["follow", "follow"], ["ann", "bo"], post: nil)) == "ann and bo followed you")
        #expect(try title(events(["poll", "poll"], ["ann", "bo"])) == "ann and bo: 2 × poll")
        let mixed = Array(repeating: "like", count: 12) + ["comment", "comment", "comment"]
        let actors = mixed.indices.map { "u\($0)" }
        #expect(try title(events(mixed, actors)) == "12 likes and 3 comments on your post")
        #expect(try title(events(mixed, mixed.map { _ in "ann" }, post: nil)) == "ann: 12 likes and 3 comments")
        #expect(
            try title(events(["follow", "like", "x\n", "y", "z", "like"], actors, post: nil))
                == "2 likes, 1 new follower, 1 × x, 1 × y and 1 more")
    }

    @Test func friendsComeFirst() throws {
        let events = likes(["ann", "bo", "cy", "Zoe\u{308}", "dan", "YAN"])
        let when = #", "when": {"any": [{"actor": "@friends"}, {"kind": "like"}], "not": {"actor": "nobody"}}"#
        #expect(try title(events, when) == "Zoe\u{308}, YAN and 4 others liked your post")
        let negative = #", "when": {"not": {"actor": "@friends"}}"#
        #expect(try title(events, negative) == "ann, bo and 4 others liked your post")
    }

    @Test func whatIsNotListedIsCounted() throws {
        var many = gathering((0..<10_000).map { event(actor: "u\($0 % 50)", post: "p\($0 % 2)") })
        for _ in 0..<312 { many.add(.init(event(), rule: "r")) }
        let set = try rules(#", "body": "{count} {actors} {posts}""#)
        let notice = set.notice(rule: 0, for: many, suppressed: 0)
        #expect(notice.title.string == "u0, u1 and at least 48 others liked at least 2 of your posts")
        #expect(notice.body.string == "10312 u0, u1 and at least 48 others p0, p1 and others")
    }

    @Test func templatesSeeTheWholeDigest() throws {
        let set = try rules(
            #"""
            , "title": "{count} {kind} {actor}|{actors}|{post}|{posts}|{first}|{last}|{field:/n}", "zone": "Asia/Tokyo",
              "body": "{id} {text} {createdAt} {stream}", "urgency": "{field:/u}", "icon": "mail"
            """#)
        let events = [
            event(kind: "like", actor: "ann", post: "p1", raw: #"{"n": 1, "u": "low"}"#, at: 1_893_553_445_000),
            event(
                kind: "comment", actor: "bo", post: "p2", text: "hi\u{7}",
                raw: #"{"n": "z\u0007\n2", "u": "critical"}"#, at: 1_893_553_385_000),
        ]
        let notice = set.notice(rule: 0, for: gathering(events), suppressed: 3)
        #expect(
            notice.title.string
                == "2 like, comment ann and bo|ann and bo|p1 and p2|p1 and p2|2030-01-02 12:03|2030-01-02 12:04|z 2")
        #expect(notice.body.string == "id-1 hi 2030-01-02 12:03 chirp\nand 3 more")
        #expect(notice.urgency == .critical && notice.icon == "mail" && notice.suppressed == 3 && notice.rule == "r")
        let one = set.notice(rule: 0, for: events[0], suppressed: 0)
        #expect(one.title.string == "1 like ann|ann|p1|p1|2030-01-02 12:04|2030-01-02 12:04|1")
        #expect(one.urgency == .low)
        #expect(set.notice(rule: 0, for: event(), suppressed: 0).urgency == .normal)
    }

    @Test func aRuleThatIsGoneHasTheUsualWording() throws {
        let set = try rules(#", "title": "mine", "body": "mine", "icon": "mail", "urgency": "critical""#)
        for rule in [Effect.nobody, 7] {
            let digest = set.notice(rule: rule, for: gathering(likes(["ann", "bo"])), suppressed: 1)
            #expect(digest.title.string == "ann and bo liked your post" && digest.body.string == "and 1 more")
            #expect(digest.rule.isEmpty && digest.icon.isEmpty && digest.urgency == .normal && digest.suppressed == 1)
            let one = set.notice(rule: rule, for: event(text: "hi"), suppressed: 0)
            #expect(one.body.string == "hi" && one.rule.isEmpty && one.urgency == .normal)
        }
    }

    @Test func suppressedIsTheLastLine() throws {
        let set = try rules()
        #expect(set.notice(rule: 0, for: event(), suppressed: 37).body.string == "and 37 more")
        #expect(set.notice(rule: 0, for: event(text: "a"), suppressed: 37).body.string == "a\nand 37 more")
        let notice = set.notice(rule: 0, for: gathering(likes(["a", "b"])), suppressed: 1)
        #expect(notice.body.string == "and 1 more")
        #expect(notice.bodyBeforeSuppressed.string.isEmpty)
        #expect(set.notice(rule: 0, for: event(text: "a"), suppressed: 37).bodyBeforeSuppressed.string == "a")
        #expect(
            set.notice(rule: 0, for: event(text: "and 37 more"), suppressed: 0).bodyBeforeSuppressed.string
                == "and 37 more")
    }

    @Test func theNewestTextsAreQuoted() throws {
        let set = try rules()
        let comments = (1...6).map { event(kind: "comment", actor: "u\($0)", text: "text\n\($0)") }
        let notice = set.notice(rule: 0, for: gathering(comments), suppressed: 0)
        #expect(notice.body.string == "u3: text 3\nu4: text 4\nu5: text 5\nu6: text 6")
        let mixed = set.notice(rule: 0, for: gathering(comments + likes(["ann"])), suppressed: 0)
        #expect(mixed.title.string == "6 comments and 1 like")
        #expect(mixed.body.string == "u1, u2 and 5 others\nu3: text 3\nu4: text 4\nu5: text 5\nu6: text 6")
        let long = set.notice(
            rule: 0, for: gathering([event(kind: "comment", text: String(repeating: "é", count: 5000)), event()]),
            suppressed: 0)
        #expect(long.body.string.count == 100 && long.body.string.hasSuffix("…"))
    }

    @Test func aLinkIsGivenIfAllGiveTheSame() throws {
        let set = try rules(#", "link": "https://a.example/{post}""#)
        func link(_ events: [Event]) -> String {
            set.notice(rule: 0, for: gathering(events), suppressed: 0).link.string
        }
        #expect(link(likes(["a", "b"])) == "https://a.example/p")
        #expect(link(likes(["a"]) + likes(["b"], post: "q")) == "")
        #expect(link(likes(["a"]) + likes(["b"], post: nil)) == "")
    }

    // MARK: Briefings

    @Test func briefingTellsALineForEachRuleAndKind() throws {
        let set = try rules(
            more: #", {"name": "s", "to": ["log"], "title": "{actors} wrote", "urgency": "critical", "icon": "i"}"#)
        var held = gathering(likes((0..<312).map { "u\($0)" }))
        for actor in ["ann", "bo", "cy", "di"] {
            held.add(.init(event(kind: "comment", actor: actor, text: "hi"), rule: "s"))
        }
        held.add(.init(event(kind: "follow", actor: "eve"), rule: "gone"))
        held.add(.init(event(kind: "follow", actor: "fay"), rule: "gone"))
        let notice = set.briefing(time: "night\u{7}", of: held)
        #expect(notice.title.string == "night: 312 likes, 4 comments and 2 new followers")
        #expect(
            notice.body.string
                == "u0, u1 and 310 others liked your post\nann, bo and 2 others wrote\neve and fay followed you")
        #expect(notice.rule.isEmpty && notice.icon.isEmpty && notice.urgency == .critical && notice.suppressed == 0)
    }

    @Test func briefingOfOneRuleHasItsName() throws {
        let set = try rules(#", "icon": "mail", "urgency": "low""#)
        let notice = set.briefing(time: "night", of: gathering([event(kind: "comment", text: "hello\nyou")]))
        #expect(notice.title.string == "night: 1 comment")
        #expect(notice.body.string == "ann commented on your post: hello you")
        #expect(notice.rule == "r" && notice.icon == "mail" && notice.urgency == .low)
    }

    @Test func briefingHasAtMostSixLines() throws {
        let set = try rules()
        let events = (0..<2000).map { event(kind: "k\($0 % 1000)", actor: "u\($0)") }
        let notice = set.briefing(time: "night", of: gathering(events))
        let lines = notice.body.string.split(separator: "\n")
        #expect(lines.count == 6)
        #expect(lines.first == "u0 and u1000: 2 × k0" && lines.last == "and 1990 more")
        #expect(notice.title.string == "night: 2 × k0, 2 × k1, 2 × k2, 2 × k3 and 1992 more")
    }

    // MARK: Hostile text

    @Test func noControlCharacterLeavesInAnyForm() throws {
        let pieces = [
            "\u{1B}[2J", "\u{9B}31m", "\r\n", "\u{202E}", "\u{0}", "a", "é", "\u{301}", "<b>", "{actor}", "\u{FEFF}",
            "\u{2028}",
            "\u{200D}", "😀", "\t", "\\u0007", "\"", "\u{FFFD}",
        ]
        let parts = [
            "{actor}", "{actors}", "{kind}", "{post}", "{posts}", "{text}", "{count}", "{first}", "{last}",
            "{createdAt}",
            "{id}", "{stream}", "{field:/f}", "{field:/g/0}", " ", "x", "{{", "}}",
        ]
        for seed in 0..<300 as Range<UInt64> {
            var random = SplitMix(seed)
            func text(_ pool: [String]) -> String {
                (0..<Int.random(in: 0...6, using: &random)).map { _ in pool.randomElement(using: &random) ?? "" }
                    .joined()
            }
            let set = try rules(", \"title\": \"\(text(parts))\", \"body\": \"\(text(parts))\"")
            let events = (0..<Int.random(in: 2...8, using: &random)).map { _ in
                var field: [UInt8] = []
                JSONText.append(text(pieces), to: &field)
                let quoted = "\"\(String(decoding: field, as: UTF8.self))\""
                return event(
                    kind: text(pieces), actor: text(pieces), post: text(pieces), text: text(pieces),
                    raw: "{\"f\": \(quoted), \"g\": [\(quoted)]}")
            }
            let held = gathering(events)
            let notices = [
                set.notice(rule: 0, for: held, suppressed: 2), set.notice(rule: 0, for: events[0], suppressed: 2),
                set.briefing(time: "night", of: held),
            ]
            for notice in notices {
                #expect(!notice.title.isEmpty && !notice.title.string.contains("\n"), "seed \(seed)")
                let isClean = (notice.title.string + notice.body.string).unicodeScalars.allSatisfy { scalar in
                    scalar == "\n" || scalar == "\u{200D}"
                        || ![.control, .format, .lineSeparator].contains(scalar.properties.generalCategory)
                }
                #expect(isClean, "seed \(seed): \(notice.title.string.debugDescription)")
            }
        }
    }
}

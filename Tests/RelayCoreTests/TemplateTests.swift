import Testing

@testable import RelayCore

struct TemplateTests {
    private let allowed: [Placeholder] = [.actor, .text, .createdAt]

    @Test(arguments: [
        ("plain", "plain"), ("{actor}", "<actor>"), ("a {actor}, {text}!", "a <actor>, <text>!"), ("", ""),
        ("{{actor}}", "{actor}"), ("{{{actor}}}", "{<actor>}"), ("{field:/a/b~1c}", "</a/b~1c>"),
        ("é{createdAt}ü", "é<createdAt>ü"), ("}}{{", "}{"),
    ])
    func templateIsFilled(_ text: String, _ expected: String) throws {
        let template = try Template.parse(text, allowed: allowed).get()
        var bytes: [UInt8] = []
        for part in template.parts {
            switch part {
            case .literal(let literal): bytes += literal
            case .placeholder(let placeholder): bytes += Array("<\(placeholder.rawValue)>".utf8)
            case .field(let pointer): bytes += Array("<\(pointer.text)>".utf8)
            }
        }
        #expect(String(decoding: bytes, as: UTF8.self) == expected)
    }

    @Test(arguments: [
        ("{actr}", #"unknown placeholder "{actr}"; did you mean "actor"?"#), ("{}", #"unknown placeholder "{}""#),
        ("{post}", #"unknown placeholder "{post}""#), ("{actor", "a \"{\" without its \"}\"; write \"{{\" for a brace"),
        ("a } b", "a single \"}\"; write \"}}\" for a brace"),
        ("{", "a \"{\" without its \"}\"; write \"{{\" for a brace"),
        ("{count}", #"unknown placeholder "{count}""#), ("{field:}", #""{field:}" names no value"#),
        ("{field}", #""{field}" is written with a JSON Pointer, as in "{field:/user/name}""#),
        ("{field:a}", #""a" is no JSON Pointer, which begins with "/"; did you mean "/a"?"#),
        ("{field:/~2}", #""/~2" is no JSON Pointer: "~" is written "~0" in it, and "/" in a key "~1""#),
        ("{actor }", #"unknown placeholder "{actor }"; did you mean "actor"?"#),
    ])
    func mistakeIsTold(_ text: String, _ message: String) {
        #expect(Template.parse(text, allowed: allowed) == .failure(Template.Fault(message: message)))
    }
}

struct LinkTemplateTests {
    private func event(post: String?, actor: String = "ann", link: String? = nil) -> Event {
        var storage = Array("idlike".utf8)
        func add(_ text: String) -> TextRange {
            let range = TextRange(offset: UInt32(storage.count), count: UInt32(text.utf8.count))
            storage += Array(text.utf8)
            return range
        }
        var record = EventRecord(
            identity: EventID(high: 1, low: 1), createdAt: Instant(milliseconds: 0), id: TextRange(offset: 0, count: 2),
            kind: TextRange(offset: 2, count: 4))
        if let post { record.post = add(post) }
        record.actor = add(actor)
        return Event(storage: storage, record: record, stream: "my stream")
    }

    private func read(_ text: String) -> (LinkTemplate?, [String]) {
        let problems = Problems()
        let node = ConfigurationNode(.string(text), at: Position(line: 1, column: 1), path: "link")
        return (LinkTemplate.read(node, problems), problems.all.map(\.message))
    }

    @Test(arguments: [
        ("https://a.example/posts/{post}", "https://a.example/posts/p%2F1%3F%23"),
        ("HTTP://a.example:8080?q={actor}&s={stream}", "HTTP://a.example:8080?q=an%C3%A9%20%0A&s=my%20stream"),
        ("https://a.example/{createdAt}/{kind}/{id}#x", "https://a.example/1970-01-01T00%3A00%3A00Z/like/id#x"),
        ("https://[::1]/é", "https://[::1]/%C3%A9"), ("https://a.example", "https://a.example"),
    ])
    func placeholdersArePercentEncoded(_ text: String, _ expected: String) throws {
        let link = try #require(read(text).0)
        var bytes: [UInt8] = []
        #expect(link.append(for: event(post: "p/1?#", actor: "ané \n"), to: &bytes))
        #expect(String(decoding: bytes, as: UTF8.self) == expected)
    }

    @Test func absentPlaceholderGivesNoLink() throws {
        let link = try #require(read("https://a.example/{actor}/{post}").0)
        var bytes: [UInt8] = [1]
        #expect(!link.append(for: event(post: nil), to: &bytes))
        #expect(!link.append(for: event(post: ""), to: &bytes))
        #expect(bytes == [1])
    }

    @Test(arguments: [
        ("ftp://a.example/", "a link begins with \"https://\" or \"http://\" as written"),
        ("{post}", "a link begins with \"https://\" or \"http://\" as written"),
        ("javascript:alert(1)", "a link begins with \"https://\" or \"http://\" as written"),
        ("", "a link begins with \"https://\" or \"http://\" as written"),
        ("https:///x", "the link has no host"), ("https://", "the link has no host"),
        ("https://{actor}.example/", "a placeholder cannot stand in the host; the host ends with \"/\" before it"),
        ("https://a.example{post}", "a placeholder cannot stand in the host; the host ends with \"/\" before it"),
        ("https://u:p@a.example/", "the host of the link is letters, digits, dots and hyphens, without a password"),
        ("https://bücher.example/", "the host of the link is letters, digits, dots and hyphens, without a password"),
        ("https://a.example/a b", "the link has a character that no link has, such as a space; write it as %20"),
        ("https://a.example\\x/", "the host of the link is letters, digits, dots and hyphens, without a password"),
        ("https://a.example/{count}", "unknown placeholder \"{count}\""),
    ])
    func hostIsAsWritten(_ text: String, _ message: String) {
        let (link, messages) = read(text)
        #expect(link == nil)
        #expect(messages == [message])
    }

    @Test(arguments: [
        ("https://a.example/x?y=1#z", "https://a.example/x?y=1#z"), ("HtTpS://A.example", "HtTpS://A.example"),
        ("http://a.example/é", "http://a.example/%C3%A9"), ("javascript:alert(1)", nil), ("//a.example/", nil),
        ("https://", nil), ("https:///x", nil), ("https://good.example@evil.example/", nil),
        ("https://a\u{202E}b/", nil),
        ("https://a.example/\n", nil), ("https://a.example/ x", nil), ("https://a.example/\"><b>", nil), ("", nil),
        ("data:text/html,x", nil), (" https://a.example/", nil), ("https://a.example\\@evil.example/", nil),
        ("https://a.example/" + String(repeating: "x", count: 2048), nil),
    ])
    func linkOfAnEventIsCheckedWhole(_ text: String, _ expected: String?) {
        var bytes: [UInt8] = []
        let isLink = WebLink.append(Array(text.utf8).span.bytes, to: &bytes)
        #expect(isLink == (expected != nil))
        #expect(String(decoding: bytes, as: UTF8.self) == expected ?? "")
    }
}

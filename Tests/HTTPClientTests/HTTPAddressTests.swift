import HTTPClient
import Testing

struct HTTPAddressTests {
    @Test(arguments: [
        ("https://hooks.example.test/services/T0/B0/x", "https", "hooks.example.test", 443, "hooks.example.test"),
        ("HTTPS://hooks.example.test:8443?a=b", "https", "hooks.example.test", 8443, "hooks.example.test:8443"),
        ("http://user:pa%20ss@[::1]:80/#f", "http", "[::1]", 80, "[::1]"),
        ("https://h.test/a|b", "https", "h.test", 443, "h.test"),
        ("https://b\u{fc}cher.example/", "https", "b\u{fc}cher.example", 443, "b\u{fc}cher.example"),
    ])
    func urlIsTakenApart(text: String, scheme: String, host: String, port: Int, authority: String) throws {
        let address = try HTTPAddress.parse(text).get()
        #expect(address.scheme == scheme)
        #expect(address.host == host)
        #expect(address.port == port)
        #expect(address.authority == authority)
        #expect(address.hasUserInfo == text.contains("@"))
    }

    @Test(arguments: [
        ("", "is empty"),
        (
            " https://h.example.test/x",
            "has a space or a control character; in a path it is written as %20 and the like"
        ),
        ("https://exa mple/", "has a space or a control character; in a path it is written as %20 and the like"),
        ("https://h/a\r\nX: y", "has a space or a control character; in a path it is written as %20 and the like"),
        ("h.example.test", "has no scheme; begin it with \"https://\""),
        ("https:/h.test", "has no scheme; begin it with \"https://\""),
        ("ftp://x", "has another scheme than http and https"),
        ("file:///etc/passwd", "has another scheme than http and https"),
        ("https://?", "has no host"),
        ("https://", "has no host"),
        ("https:///x", "has no host"),
        ("https://[::1", "has a bad IPv6 address; write it in brackets"),
        ("https://h:99999/", "has a bad port; ports go from 1 to 65535"),
        ("https://h:0/", "has a bad port; ports go from 1 to 65535"),
        ("https://h:x/", "has a bad port; ports go from 1 to 65535"),
        ("https://h\\@evil.test/", "has a backslash; write \"/\" or %5C"),
        ("https://h.test/caf\u{e9}", "has characters beyond ASCII after the host; percent-encode them"),
        ("https://h.test/" + String(repeating: "a", count: 1 << 20), "is longer than 8192 bytes"),
    ])
    func badURLIsRefused(text: String, message: String) {
        guard case .failure(let fault) = HTTPAddress.parse(text) else {
            Issue.record("it was accepted")
            return
        }
        #expect(fault.message == message)
    }

    @Test(arguments: [
        ("http://localhost/", true), ("http://LOCALHOST:1/", true), ("http://a.localhost/", true),
        ("http://127.0.0.1/", true), ("http://127.200.1.2/", true), ("http://[::1]/", true),
        ("http://127.evil.test/", false), ("http://localhost.evil.test/", false), ("http://128.0.0.1/", false),
        ("http://[::2]/", false), ("http://localhost@evil.test/", false), ("http://0.0.0.0/", false),
    ])
    func loopbackIsKnown(text: String, isLoopback: Bool) throws {
        #expect(try HTTPAddress.parse(text).get().isLoopback == isLoopback)
    }

    /// Every text gives an answer, and none traps.
    @Test func anyTextIsAcceptedOrRefused() {
        let pieces = [
            "http", "https", "://", ":", "/", "[", "]", "@", "?", "#", "%", "%00", "%zz", "\u{0}", "a", ".", "-", "9",
            "\u{e9}", "\u{202e}",
        ]
        for seed in UInt64(1)...3000 {
            var state = seed
            var text = ""
            for _ in 0..<(seed % 12) {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                text += pieces[Int(state >> 33) % pieces.count]
            }
            guard case .success(let address) = HTTPAddress.parse(text) else { continue }
            #expect(!address.host.isEmpty && (1...65535).contains(address.port), "seed \(seed)")
        }
    }
}

struct HTTPFieldTests {
    @Test(arguments: [
        ("X-Api-Key", true), ("!#$%&'*+-.^_`|~9", true), ("", false), ("a b", false), ("a:", false), ("a\r\nb", false),
        ("\u{e9}", false), ("a\u{0}", false), ("(", false),
    ])
    func namesAreTokens(name: String, isName: Bool) {
        #expect(HTTPField.isName(name) == isName)
    }

    @Test(arguments: [
        ("", true), ("Bearer x", true), ("a\tb", true), ("caf\u{e9}", true), ("a\r\nX: y", false), ("a\nb", false),
        ("a\u{0}b", false), ("\u{7f}", false), (" a", false), ("a ", false),
    ])
    func valuesHaveNoControlCharacters(value: String, isValue: Bool) {
        #expect(HTTPField.isValue(value) == isValue)
    }

    @Test func requestPrintsNothingOfItself() {
        let request = HTTPRequest(
            .post, url: "https://u:pw@h.test/SECRET", headers: [("Authorization", "SECRET")], body: Array("SECRET".utf8)
        )
        var dumped = ""
        dump(request, to: &dumped)
        #expect("\(request)" == "POST <redacted>")
        #expect(![String(describing: request), String(reflecting: request), dumped].contains { $0.contains("SECRET") })
    }

    @Test(arguments: [
        ("", "https://h.test/a/b?q=1"), ("?p=2", "https://h.test/a/b?p=2"), ("/c?p=2", "https://h.test/c?p=2"),
        ("c", "https://h.test/a/c"), ("../c", "https://h.test/c"), ("//g.test/x", "https://g.test/x"),
        ("http://h.test/x", "http://h.test/x"), ("HTTPS://H.test:444/x", "https://H.test:444/x"),
    ])
    func referenceIsResolved(reference: String, expected: String) {
        #expect(HTTPAddress.resolve(reference, against: "https://h.test/a/b?q=1") == .success(expected))
    }

    @Test(arguments: [
        "a b", "/a\r\nX: y", "/a\\b", "ftp://h.test/", "https://h.test:99999/", "//[::1", "https:///",
        String(repeating: "a", count: 9000),
    ])
    func badReferenceIsRefused(reference: String) {
        let result = HTTPAddress.resolve(reference, against: "https://h.test/a")
        #expect(throws: HTTPAddress.Fault.self) { try result.get() }
        #expect(throws: HTTPAddress.Fault.self) { try HTTPAddress.resolve("/x", against: "h.test").get() }
    }

    @Test(arguments: [
        ("https://h.test/b", true), ("https://H.TEST:443/", true), ("https://h.test:444/", false),
        ("http://h.test:443/", false), ("https://h.test.evil.test/", false), ("https://x.h.test/", false),
    ])
    func originIsCompared(text: String, isSame: Bool) throws {
        let address = try HTTPAddress.parse("https://h.test/a?b").get()
        #expect(try HTTPAddress.parse(text).get().hasSameOrigin(as: address) == isSame)
    }
}

import RelayTestKit
import Testing
import WebSocketCodec

struct WebSocketURLTests {
    struct Good: Sendable {
        var text: String
        var port: UInt16
        var target: String
        var hostHeader: String
        var isLoopback = false
        var secure = true
    }

    static let good = [
        Good(text: "wss://s.example.test", port: 443, target: "/", hostHeader: "s.example.test"),
        Good(text: "wss://s.example.test?a=1", port: 443, target: "/?a=1", hostHeader: "s.example.test"),
        Good(
            text: "wss://s.example.test:443/x?a=b%20c&d=%2F", port: 443, target: "/x?a=b%20c&d=%2F",
            hostHeader: "s.example.test"),
        Good(
            text: "ws://[::1]:9001/x", port: 9001, target: "/x", hostHeader: "[::1]:9001", isLoopback: true,
            secure: false),
        Good(text: "WSS://S.EXAMPLE.TEST/x", port: 443, target: "/x", hostHeader: "s.example.test"),
        Good(text: "ws://s.example.test:80", port: 80, target: "/", hostHeader: "s.example.test", secure: false),
        Good(text: "ws://s.example.test:443/", port: 443, target: "/", hostHeader: "s.example.test:443", secure: false),
        Good(text: "wss://[2001:DB8::5]/a?b", port: 443, target: "/a?b", hostHeader: "[2001:db8::5]"),
        Good(text: "wss://[::ffff:1.2.3.4]", port: 443, target: "/", hostHeader: "[::ffff:1.2.3.4]"),
        Good(
            text: "ws://127.8.9.10:1/", port: 1, target: "/", hostHeader: "127.8.9.10:1", isLoopback: true,
            secure: false),
        Good(
            text: "ws://LocalHost:65535", port: 65535, target: "/", hostHeader: "localhost:65535", isLoopback: true,
            secure: false),
        Good(
            text: "ws://[0:0:0:0:0:0:0:1]", port: 80, target: "/", hostHeader: "[0:0:0:0:0:0:0:1]", isLoopback: true,
            secure: false),
        Good(
            text: "wss://my_host-1.test./p//q/../r?x=/?&y=@:|", port: 443, target: "/p//q/../r?x=/?&y=@:|",
            hostHeader: "my_host-1.test."),
        Good(text: "wss://localhost.example.test", port: 443, target: "/", hostHeader: "localhost.example.test"),
        Good(text: "wss://128.0.0.1", port: 443, target: "/", hostHeader: "128.0.0.1"),
        Good(text: "wss://xn--bcher-kva.example/", port: 443, target: "/", hostHeader: "xn--bcher-kva.example"),
    ]

    @Test(arguments: good)
    func addressIsRead(good: Good) throws {
        let url = try WebSocketURL(good.text)
        #expect(url.secure == good.secure)
        #expect(url.port == good.port)
        #expect(url.target == good.target)
        #expect(url.hostHeader == good.hostHeader)
        #expect(url.isLoopback == good.isLoopback)
        let request = ClientHandshake(target: url, headers: [], subprotocol: nil, key: [])
        let text = String(decoding: request.request, as: UTF8.self)
        #expect(text.hasPrefix("GET \(good.target) HTTP/1.1\r\nHost: \(good.hostHeader)\r\n"))
    }

    @Test(arguments: [
        ("", "empty"), (" wss://h.example.test/x", "white space"), ("wss://exa mple/", "white space"),
        ("wss://h.example.test/a\nb", "control"), ("wss://h.example.test/\u{7F}", "control"),
        ("https://h.example.test/", "wss://"), ("http://h.example.test/", "ws://"), ("h.example.test", "must begin"),
        ("ftp://x", "must begin"), ("//h.example.test", "must begin"), ("wss:/h", "must begin"),
        ("wss://", "host is missing"),
        ("wss://?", "host is missing"), ("wss:///x", "host is missing"), ("wss://:443/", "host is missing"),
        ("wss://.", "host is missing"),
        ("wss://user:pw@h.example.test/", "credentials"), ("wss://user@h.example.test", "credentials"),
        ("wss://h.example.test/x#frag", "fragment"), ("wss://h.example.test#", "fragment"),
        ("wss://[::1", "closing bracket"), ("wss://[::1]x", "closing bracket"), ("wss://[]", "no IPv6"),
        ("wss://[1::2::3]", "no IPv6"),
        ("wss://[::12345]", "no IPv6"), ("wss://[1:2:3:4:5:6:7]", "no IPv6"), ("wss://[1:2:3:4:5:6:7:8:9]", "no IPv6"),
        ("wss://[fe80::1%25eth0]", "no IPv6"), ("wss://[:::1]", "no IPv6"), ("wss://[::1.2.3.4.5]", "no IPv6"),
        ("wss://::1/", "brackets"),
        ("wss://h:99999/", "port"), ("wss://h:0/", "port"), ("wss://h:/", "port"), ("wss://h:+80/", "port"),
        ("wss://h:8a/", "port"),
        ("wss://h:000080/", "port"), ("wss://b\u{FC}cher.example/", "ASCII"), ("wss://h.example.test/\u{E9}", "ASCII"),
        ("wss://h|x/", "no name"), ("wss://a..b/", "no name"), ("wss://h%41/", "no name"),
        ("wss://good.test\\@evil.test/", "credentials"),
        ("wss://good.test\\evil/", "no name"), ("wss://127.1/", "IPv4"), ("wss://1.2.3.256/", "IPv4"),
        ("wss://0x7f.0.0.0x1/", "IPv4"),
        ("wss://2130706433/", "IPv4"), ("wss://01.2.3.4/", "IPv4"),
    ])
    func wrongAddressIsRefused(text: String, reason: String) {
        let fault = #expect(throws: URLFault.self) { try WebSocketURL(text) }
        #expect(fault?.message.contains(reason) == true, "\(fault?.message ?? "none")")
    }

    @Test func hugeAddressIsRefused() {
        #expect(throws: URLFault.self) { try WebSocketURL("wss://h/" + String(repeating: "x", count: 1 << 20)) }
        #expect(throws: URLFault.self) { try WebSocketURL("wss://" + String(repeating: "a.", count: 200)) }
        #expect(throws: URLFault.self) { try WebSocketURL("wss://" + String(repeating: "a", count: 64)) }
    }

    @Test func printingShowsTheOriginOnly() throws {
        let url = try WebSocketURL("wss://h.example.test/SECRET?token=SECRET")
        #expect(url.originDescription == "wss://h.example.test:443")
        #expect("\(url) \(String(reflecting: url))" == "wss://h.example.test:443 wss://h.example.test:443")
        var dumped = ""
        dump(url, to: &dumped)
        #expect(!dumped.contains("SECRET"))
        let fault = #expect(throws: URLFault.self) { try WebSocketURL("wss://me:SECRET@h/SECRET?SECRET") }
        #expect(fault.map { "\($0)".contains("SECRET") } == false)
    }

    @Test func randomAddressesNeverTrap() {
        let pieces = [
            "wss://", "ws:", "//", "[", "]", ":", "::", "@", "/", "?", "#", "%", ".", "1", "255", "a", "xn--", "é", " ",
            "0x", "\\",
        ]
        for seed in 0..<UInt64(20_000) {
            var generator = SeededGenerator(seed: seed)
            let count = Int.random(in: 0...8, using: &generator)
            let rest = (0..<count).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
            guard let url = try? WebSocketURL((seed % 2 == 0 ? "wss://" : "") + rest) else { continue }
            #expect(url.target.hasPrefix("/") && !url.host.isEmpty && url.port > 0, "seed \(seed)")
        }
    }
}

import RelayCore
import Testing

@testable import RelayStream

struct ProxyChoiceTests {
    private static let proxy = ProxyChoice.proxy(.init(host: "127.0.0.1", port: 3128))

    struct Row: Sendable {
        var secure = true
        var host = "s.example.test"
        var configured: String?
        var environment: [String: String]
        var expected: ProxyChoice
    }

    @Test(arguments: [
        Row(environment: [:], expected: .direct),
        Row(environment: ["HTTPS_PROXY": "http://127.0.0.1:3128"], expected: proxy),
        Row(environment: ["https_proxy": "127.0.0.1:3128"], expected: proxy),
        Row(environment: ["https_proxy": "http://127.0.0.1:3128/", "HTTPS_PROXY": "http://other:1"], expected: proxy),
        Row(environment: ["HTTP_PROXY": "http://127.0.0.1:3128"], expected: .direct),
        Row(environment: ["http_proxy": "http://127.0.0.1:3128"], expected: .direct),
        Row(environment: ["ALL_PROXY": "http://127.0.0.1:3128"], expected: proxy),
        Row(environment: ["all_proxy": "http://127.0.0.1:3128", "HTTPS_PROXY": ""], expected: proxy),
        Row(secure: false, environment: ["HTTPS_PROXY": "http://127.0.0.1:3128"], expected: .direct),
        Row(secure: false, environment: ["HTTP_PROXY": "http://127.0.0.1:3128"], expected: .direct),
        Row(secure: false, environment: ["http_proxy": "http://127.0.0.1:3128"], expected: proxy),
        Row(configured: "http://127.0.0.1:3128", environment: ["NO_PROXY": "*"], expected: proxy),
        Row(configured: "direct", environment: ["HTTPS_PROXY": "http://127.0.0.1:3128"], expected: .direct),
        Row(
            environment: ["HTTPS_PROXY": "http://127.0.0.1:3128", "NO_PROXY": ".example.test"], expected: .direct),
        Row(environment: ["HTTPS_PROXY": "http://127.0.0.1:3128", "no_proxy": "a, b,*"], expected: .direct),
        Row(
            environment: ["HTTPS_PROXY": "http://127.0.0.1:3128", "NO_PROXY": "ample.test"],
            expected: proxy),
        Row(
            environment: ["HTTPS_PROXY": "http://user:p%40w@[::1]"],
            expected: .proxy(.init(host: "::1", port: 80, credentials: Secret("user:p@w")))),
    ])
    func rowGivesChoice(_ row: Row) throws {
        let choice = try ProxyChoice.choose(
            isSecure: row.secure, host: row.host, port: 443, configured: row.configured,
            environment: { row.environment[$0] })
        #expect(choice == row.expected)
    }

    @Test(arguments: [
        ("s.example.test", true), ("example.test", true), (".example.test", true), ("*.example.test", true),
        ("EXAMPLE.test.", true), ("s.example.test:443", true), ("s.example.test:8443", false),
        ("xs.example.test", false), ("other,  example.test", true), ("", false), (".", false), (",,", false),
    ])
    func exceptionsAreNamesAndWhatIsBelowThem(_ list: String, _ isExcluded: Bool) {
        #expect(ProxyChoice.excludes(list, host: "S.example.test", port: 443) == isExcluded)
    }

    @Test func exceptionsCanBeAddresses() {
        #expect(ProxyChoice.excludes("127.0.0.1,[::1]:9001", host: "::1", port: 9001))
        #expect(!ProxyChoice.excludes("127.0.0.1,[::1]:9001", host: "::1", port: 9002))
        #expect(ProxyChoice.excludes("::1", host: "[::1]", port: 80))
    }

    @Test(arguments: [
        "socks5://127.0.0.1:1080", "https://p:1", "http://", "http://user:pw@", "http://h:0", "http://h:99999",
        "http://h:x", "http://us%er:pw@h:1", "http://a%0d%0ab:pw@h",
    ])
    func badProxyIsRefusedWithoutQuotingIt(_ text: String) {
        let fault = #expect(throws: ProxyChoice.Fault.self) { try ProxyChoice.parse(text, source: "$HTTPS_PROXY") }
        #expect(fault?.description.contains("pw") == false)
        #expect(fault?.description.contains("$HTTPS_PROXY") == true)
    }
}

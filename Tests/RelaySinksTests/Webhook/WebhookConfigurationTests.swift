import HTTPClient
import RelayCore
import RelaySinks
import Testing

/// Reads the object of a sink, as the rules file's reader does; returns the messages as well.
func readWebhook(_ json: String) -> (configuration: WebhookConfiguration?, messages: [String]) {
    let problems = Problems()
    guard let node = ConfigurationParser.parse(Array(json.utf8), problems: problems),
        var reader = ObjectReader(node, problems)
    else { return (nil, problems.sorted.map { "\($0.path): \($0.message)" }) }
    _ = reader.optional("type")
    let configuration = WebhookConfiguration.read(&reader)
    reader.finish(notYet: WebhookConfiguration.notYetKeys)
    return (configuration, problems.sorted.map { "\($0.path): \($0.message)" })
}

struct WebhookConfigurationTests {
    @Test func defaultsAreThoseOfTheDesign() throws {
        let (read, messages) = readWebhook(#"{"type": "webhook", "url": "https://h.test/x"}"#)
        let configuration = try #require(read)
        #expect(messages.isEmpty)
        #expect(configuration.method == .post)
        #expect(configuration.timeout == .seconds(15))
        #expect(configuration.inFlight == 10)
        #expect(!configuration.isOrdered)
        #expect(configuration.body == nil)
        #expect(configuration.proxy == .environment)
        #expect(configuration.tls == HTTPRequest.TLS())
        #expect(configuration.secrets.isEmpty)
    }

    @Test func everyKeyIsRead() throws {
        let (read, messages) = readWebhook(
            #"""
            {"type": "webhook", "url": {"env": "URL"}, "method": "PUT",
             "headers": {"x-api-key": {"file": "/k"}, "X-Plain": "v"}, "body": {"text": "{title}"}, "timeout": "3s",
             "ordered": true, "inFlight": 3, "proxy": "socks5h://u:p@127.0.0.1:1080", "insecure": true,
             "tls": {"ca": "/ca.pem", "certificate": "/c.pem", "key": "/k.pem"}}
            """#)
        let configuration = try #require(read)
        #expect(messages.isEmpty)
        #expect(configuration.method == .put)
        #expect(configuration.secrets == [.environment("URL"), .file(path: "/k", insecure: false)])
        #expect(configuration.headers.map(\.name) == ["x-api-key", "X-Plain"])
        #expect(configuration.headers.last?.value == .written(Secret("v")))
        #expect(configuration.body != nil)
        #expect(configuration.timeout == .seconds(3))
        #expect(configuration.isOrdered)
        #expect(configuration.inFlight == 3)
        #expect(configuration.proxy == .url("socks5h://u:p@127.0.0.1:1080"))
        #expect(configuration.isInsecure)
        #expect(configuration.tls.keyFile == "/k.pem")
    }

    static let mistakes: [(String, [String])] = [
        (#"{}"#, [": the key \"url\" is missing"]),
        (
            #"{"url": 5}"#,
            ["url: expected a string or the place of a secret such as {\"env\": \"NAME\"}, found a number"]
        ),
        (#"{"url": "h.example.test"}"#, ["url: the URL has no scheme; begin it with \"https://\""]),
        (#"{"url": "https://h:99999/"}"#, ["url: the URL has a bad port; ports go from 1 to 65535"]),
        (
            #"{"url": "http://h.test/"}"#,
            [
                "url: the URL must begin with \"https://\", since it is a secret; or allow it with \"insecure\": true"
            ]
        ),
        (#"{"url": "https://h.test", "method": "GET"}"#, ["method: expected \"POST\" or \"PUT\", found \"GET\""]),
        (#"{"url": "https://h.test", "timeout": "0s"}"#, ["timeout: must be from 100ms to 5m"]),
        (#"{"url": "https://h.test", "inFlight": 65}"#, ["inFlight: expected a whole number from 1 to 64, found 65"]),
        (#"{"url": "https://h.test", "secret": {"env": "S"}}"#, ["secret: \"secret\" is not supported yet"]),
        (#"{"url": "https://h.test", "timout": "5s"}"#, ["timout: unknown key \"timout\"; did you mean \"timeout\"?"]),
        (
            #"{"url": "https://h.test", "headers": []}"#,
            ["headers: expected an object of header names and values, found an array"]
        ),
        (
            #"{"url": "https://h.test", "headers": {"A": "b\r\nX: y"}}"#,
            ["headers.A: has a line break, another control character, or a space at an end"]
        ),
        (
            #"{"url": "https://h.test", "headers": {"A b": "c"}}"#,
            [#"headers["A b"]: a header name has only letters, digits and "-""#]
        ),
        (
            #"{"url": "https://h.test", "headers": {"Host": "c"}}"#,
            ["headers.Host: the relay sets the header \"Host\" itself"]
        ),
        (
            #"{"url": "https://h.test", "headers": {"Abc": "c", "ABC": "d"}}"#,
            ["headers.ABC: the header \"ABC\" stands twice; case does not count"]
        ),
        (
            #"{"url": "https://h.test", "body": {"a": ["{titel}"]}}"#,
            ["body.a[0]: unknown placeholder \"{titel}\"; did you mean \"title\"?"]
        ),
        (
            #"{"url": "https://h.test", "body": "\#(String(repeating: "a", count: 40000))"}"#,
            ["body: is longer than 32 KiB"]
        ),
        (
            #"{"url": "https://h.test", "body": "\#(String(repeating: "{id}", count: 65))"}"#,
            ["body: has more than 64 placeholders"]
        ),
        (
            #"{"url": "https://h.test", "proxy": "127.0.0.1:3128"}"#,
            ["proxy: a proxy begins with \"http://\", \"https://\", \"socks5://\" or \"socks5h://\""]
        ),
        (#"{"url": "https://h.test", "proxy": "http://"}"#, ["proxy: the proxy's URL has no host"]),
        (#"{"url": "https://h.test", "tls": {"key": "/k"}}"#, ["tls: \"key\" needs \"certificate\" beside it"]),
        (#"{"url": "https://h.test", "tls": {"verify": false}}"#, ["tls.verify: unknown key \"verify\""]),
    ]

    @Test(arguments: mistakes)
    func mistakeIsTold(json: String, expected: [String]) {
        #expect(readWebhook(json).messages == expected)
    }

    /// Whatever is wrong with the URL: it is a secret, and no message repeats it.
    @Test(arguments: [
        " https://h.test/SECRETSECRET", "https://h.test:x/SECRETSECRET", "SECRETSECRET", "http://h.test/SECRETSECRET",
    ])
    func badURLIsNotRepeated(url: String) {
        let messages = readWebhook(#"{"url": "\#(url)"}"#).messages
        #expect(messages.count == 1)
        #expect(!messages.joined().contains("SECRET"))
    }

    @Test func secretIsJudgedOnceItIsRead() throws {
        let configuration = try #require(readWebhook(#"{"url": {"env": "URL"}}"#).configuration)
        #expect(configuration.fault(inURL: Secret("https://h.test/x")) == nil)
        #expect(configuration.fault(inURL: Secret("http://127.0.0.1/x")) == nil)
        #expect(configuration.fault(inURL: Secret("http://h.test/x")) != nil)
        #expect(configuration.fault(inURL: Secret("nonsense")) != nil)
    }
}

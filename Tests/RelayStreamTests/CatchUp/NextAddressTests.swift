import RelayCore
import Testing

@testable import RelayStream

struct NextAddressTests {
    private func next(
        _ page: String, links: [String] = [], next: CatchUpConfiguration.Next? = nil, url: String = "/e?after={cursor}"
    ) throws -> String? {
        let pointer = try #require(JSONPointer("/next"))
        let configuration = try CatchUpFixtures.configuration(.oldest, url: url, next: next ?? .pointer(pointer))
        let address = NextAddress(
            configuration: configuration, cursor: CatchUpFixtures.cursor(1),
            page: Secret("http://127.0.0.1:9/api/e?after=e1"))
        return try address.find(in: Array(page.utf8).span.bytes, links: links)?.reveal()
    }

    private func fault(_ page: String, url: String = "/e?after={cursor}") -> String? {
        do {
            _ = try next(page, url: url)
            return nil
        } catch {
            return (error as? PageFault)?.reason
        }
    }

    @Test(arguments: [
        ("{}", nil), ("{\"next\": null}", nil), ("{\"next\": \"\"}", nil), ("{\"next\": false}", nil), ("[]", nil),
        ("{\"next\": \"http://127.0.0.1:9/x\"}", "http://127.0.0.1:9/x"),
        ("{\"next\": \"HTTP://127.0.0.1:9/x?a=b\"}", "http://127.0.0.1:9/x?a=b"),
        ("{\"next\": \"\\/x?p=2\"}", "http://127.0.0.1:9/x?p=2"),
        ("{\"next\": \"?p=2\"}", "http://127.0.0.1:9/api/e?p=2"),
        ("{\"next\": \"e7\"}", "http://127.0.0.1:9/e?after=e7"),
        ("{\"next\": \"e7/../=\"}", "http://127.0.0.1:9/e?after=e7%2F..%2F%3D"),
        ("{\"next\": 17}", "http://127.0.0.1:9/e?after=17"),
    ])
    func valueIsAnAddressOrTakesThePlaceOfTheCursor(_ page: String, _ expected: String?) throws {
        #expect(try next(page) == expected)
    }

    @Test func otherTextIsRelativeIfTheAddressHasNoCursor() throws {
        #expect(try next("{\"next\": \"f?p=2\"}", url: "/e?t={cursorTime}") == "http://127.0.0.1:9/api/f?p=2")
        #expect(fault("{\"next\": 7}", url: "/e?t={cursorTime}")?.contains("has no {cursor}") == true)
    }

    @Test(arguments: [
        ("{\"next\": true}", "its \"next\" is neither text nor a number"),
        ("{\"next\": {\"a\": 1}}", "its \"next\" is neither text nor a number"),
        ("{\"next\": [\"/x\"]}", "its \"next\" is neither text nor a number"),
        ("{\"next\": \"//evil.test/x\"}", "its \"next\" leads to another origin, http://evil.test"),
        ("{\"next\": \"https://127.0.0.1:9/x\"}", "its \"next\" leads to another origin, https://127.0.0.1:9"),
        ("{\"next\": \"http://127.0.0.1:10/x\"}", "its \"next\" leads to another origin, http://127.0.0.1:10"),
        (
            "{\"next\": \"http://127.0.0.1.evil.test:9/x\"}",
            "its \"next\" leads to another origin, http://127.0.0.1.evil.test:9"
        ),
        ("{\"next\": \"http://127.0.0.1:9@evil.test/x\"}", "its \"next\" has a user or a password in its URL"),
        (
            "{\"next\": \"/x\\r\\nHost: evil.test\"}",
            "its \"next\" is no usable URL: it has a space or a control character; in a path it is written as %20 and the like"
        ),
        ("{\"next\": \"/\\\\evil.test/x\"}", "its \"next\" is no usable URL: it has a backslash; write \"/\" or %5C"),
    ])
    func whatLeadsElsewhereIsRefused(_ page: String, _ expected: String) {
        #expect(fault(page) == expected)
    }

    @Test func hugeCursorIsRefused() {
        let huge = String(repeating: "x", count: 1 << 20)
        #expect(fault("{\"next\": \"\(huge)\"}") == "its \"next\" is too long")
        #expect(fault("{\"next\": \"/\(huge)\"}") == "its \"next\" is no usable URL: it is longer than 8192 bytes")
    }

    @Test func linkIsTakenWhereItIsAskedFor() throws {
        #expect(try next("{\"next\": 1}", links: ["<?p=2>; rel=next"], next: .link) == "http://127.0.0.1:9/api/e?p=2")
        #expect(try next("{\"next\": 1}", links: ["<?p=2>; rel=prev"], next: .link) == nil)
        #expect(throws: PageFault("its \"Link\" leads to another origin, https://evil.test")) {
            try next("{}", links: ["<https://evil.test/>; rel=next"], next: .link)
        }
    }
}

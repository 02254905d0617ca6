#if Desktop
    import GLibRuntime
    import RelayCore
    import Testing

    @testable import RelaySinks

    struct PopupTests {
        private func popup(
            _ title: String, _ body: String = "", link: String = "", suppressed: Int = 0, markup: Bool = false
        ) -> Popup {
            Popup(
                Notice(
                    title: UntrustedText(title), body: UntrustedText(body), link: UntrustedText(link), rule: "rule",
                    suppressed: suppressed),
                capabilities: markup ? ["body", "body-markup", "body-hyperlinks"] : ["body"])
        }

        @Test(arguments: HostileText.all)
        func hostileTextIsPlainOrEscapedOnce(_ hostile: String) {
            let plain = popup(hostile, hostile)
            let marked = popup(hostile, hostile, markup: true)
            #expect(plain.summary == marked.summary)
            #expect(!marked.body.contains { "<>\"'".contains($0) })
            let unescaped = marked.body.replacing("&lt;", with: "<").replacing("&gt;", with: ">")
                .replacing("&quot;", with: "\"").replacing("&#39;", with: "'").replacing("&amp;", with: "&")
            #expect(unescaped == plain.body)
            #expect(plain.summary.count <= 100)
            #expect(plain.body.count <= 400)
            #expect(plain.body.split(separator: "\n", omittingEmptySubsequences: false).count <= 6)
            #expect(!plain.summary.isEmpty)
            #expect(!plain.summary.unicodeScalars.contains { $0.value < 0x20 || (0x7f...0x9f).contains($0.value) })
            #expect(!plain.body.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" || $0.value == 0x202e })
        }

        @Test func linkAndCountStandBelowTheBody() {
            #expect(popup("t", "b", link: "https://x/y", suppressed: 37).body == "b\nand 37 more\nhttps://x/y")
            #expect(popup("t", link: "https://x/y").body == "https://x/y")
        }

        @Test func longBodyLeavesTheLinkWhole() {
            let body = popup("t", String(repeating: "x", count: 5000), link: "https://x/y").body
            #expect(body.hasSuffix("x…\nhttps://x/y"))
            #expect(body.count == 400)
        }

        @Test func linesOfATitleBecomeSpaces() {
            #expect(popup("a\nb\r\nc").summary == "a b c")
        }

        @Test func cutNeverSplitsAnEscape() {
            let body = popup("t", String(repeating: "&", count: 500), markup: true).body
            #expect(body == String(repeating: "&amp;", count: 399) + "…")
        }
    }

    struct SessionBusAddressTests {
        private func find(_ variables: [String: String], existing: Set<String> = []) -> String? {
            SessionBusAddress.find(environment: { variables[$0] }, exists: { existing.contains($0) })
        }

        @Test func addressOfTheEnvironmentCounts() {
            #expect(find(["DBUS_SESSION_BUS_ADDRESS": "unix:path=/run/x/bus"]) == "unix:path=/run/x/bus")
        }

        @Test(arguments: ["", "garbage", "unix", "unix:path", "autolaunch:", "autolaunch:;unix:path=/x"])
        func malformedAddressGivesWayToTheRuntimeDirectory(_ address: String) {
            let variables = ["DBUS_SESSION_BUS_ADDRESS": address, "XDG_RUNTIME_DIR": "/run/user/1 2"]
            #expect(find(variables, existing: ["/run/user/1 2/bus"]) == "unix:path=/run/user/1%202/bus")
            #expect(find(variables) == nil)
        }

        @Test func emptyEnvironmentHasNoBus() {
            #expect(find([:]) == nil)
            #expect(find(["XDG_RUNTIME_DIR": "relative"], existing: ["relative/bus"]) == nil)
        }
    }
#endif

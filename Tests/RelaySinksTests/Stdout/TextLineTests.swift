import Glibc
import RelayCore
import RelaySinks
import Testing

struct TextLineTests {
    private func line(_ notice: Notice, style: TextLine.Style = .plain) -> String {
        var bytes: [UInt8] = []
        TextLine.append(notice, .sample(), style: style, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func lineForPeople() {
        let notice = Notice(
            title: UntrustedText("alice commented"), body: UntrustedText("nice"), link: UntrustedText("https://x/y"),
            suppressed: 3)
        let line = line(notice)
        #expect(line.hasSuffix("  alice commented — nice (and 3 more)  https://x/y\n"))
        #expect(line.prefix(5).contains(":"))
        #expect(line.prefix(5).count { $0.isNumber } == 4)
    }

    @Test func emptyPartsLeaveNothing() {
        #expect(line(Notice(title: UntrustedText("t"))).dropFirst(5) == "  t\n")
    }

    @Test(arguments: HostileText.all)
    func hostileTextStaysOnItsLine(_ hostile: String) {
        let text = UntrustedText(hostile)
        let line = line(Notice(title: text, body: text, link: text))
        #expect(line.unicodeScalars.count { $0.value < 0x20 } == 1)
        #expect(line.hasSuffix("\n"))
        #expect(
            !line.unicodeScalars.dropLast().contains {
                (0x7f...0x9f).contains($0.value) || (0x2028...0x202e).contains($0.value)
                    || (0x2066...0x2069).contains($0.value)
            })
    }

    @Test func controlCharactersAreShown() {
        let notice = Notice(title: UntrustedText("a\u{1b}[2J\nb\u{202e}c"))
        #expect(line(notice).dropFirst(7) == "a\\u{1b}[2J\\u{a}b\\u{202e}c\n")
    }

    @Test func colourIsOnlyForTerminalsThatWantIt() {
        #expect(TextLine.Style.standard(isTerminal: true, environment: [:]) == .colour)
        #expect(TextLine.Style.standard(isTerminal: false, environment: [:]) == .plain)
        #expect(TextLine.Style.standard(isTerminal: true, environment: ["NO_COLOR": "1"]) == .plain)
        #expect(TextLine.Style.standard(isTerminal: true, environment: ["TERM": "dumb"]) == .plain)
        #expect(line(Notice(title: UntrustedText("t")), style: .colour).contains("\u{1b}[1mt\u{1b}[0m"))
    }
}

import FoundationEssentials
import RelayCore
import RelaySinks
import Testing

struct NoticeLineTests {
    private struct Line: Decodable {
        var type: String
        var id: String
        var kind: String
        var actor: String?
        var post: String?
        var createdAt: String
        var stream: String
        var rule: String
        var title: String
        var body: String
        var link: String?
        var suppressed: Int
        var sink: String?
    }

    private func line(_ notice: Notice, _ event: Event, sink: String? = nil) -> String {
        var bytes: [UInt8] = []
        NoticeLine.append(notice, event, sink: sink, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func lineOfAnEvent() {
        let event = Event.sample(id: "1", kind: "like", actor: "alice", post: "p2")
        let notice = Notice(
            title: UntrustedText("alice liked your post"), link: UntrustedText("https://chirp.example.com/p2"),
            rule: "everything", suppressed: 37)
        #expect(
            line(notice, event)
                == #"{"type":"event","id":"1","kind":"like","actor":"alice","post":"p2","createdAt":"2030-01-02T03:04:05Z","#
                + #""stream":"chirp","rule":"everything","title":"alice liked your post","body":"","#
                + #""link":"https://chirp.example.com/p2","suppressed":37}"#)
    }

    /// What the writer remembers of the last line must not get into the next one.
    @Test func linesOneAfterAnotherAreLikeEachByItself() {
        var writer = NoticeLineWriter()
        var lines: [UInt8] = []
        var single = ""
        for number in 0..<60 {
            let event = Event.sample(
                id: String(number), kind: "like", actor: number % 3 == 0 ? nil : "ann\(number)\"",
                post: number % 2 == 0 ? nil : "p")
            var record = event.record
            // Days before and after the first one, with and without milliseconds.
            record.createdAt = Instant(milliseconds: Int64(number % 7 - 3) * 50_000_000 + Int64(number % 2))
            let changed = Event(
                storage: event.storage, record: record, stream: ["chirp", "other \u{7f}"][number / 5 % 2])
            let notice = Notice(
                title: UntrustedText("t\(number)"), body: UntrustedText(number % 4 == 0 ? "b\n" : ""),
                rule: ["", "r", "all \"rules\""][number / 4 % 3], suppressed: number * 7)
            writer.appendLine(notice, changed, to: &lines)
            single += line(notice, changed) + "\n"
        }
        #expect(String(decoding: lines, as: UTF8.self) == single)
    }

    @Test func absentFieldsAreNull() {
        let event = Event.sample(id: "1", kind: "follow", actor: nil, post: nil)
        let text = line(Notice(title: UntrustedText("t"), body: UntrustedText("b"), rule: "r"), event, sink: "hook")
        #expect(text.contains(#""actor":null,"post":null,"createdAt":"#))
        #expect(text.hasSuffix(#""link":null,"suppressed":0,"sink":"hook"}"#))
    }

    @Test(arguments: HostileText.all)
    func hostileTextComesBackFromAParser(_ hostile: String) throws {
        let event = Event.sample(id: hostile, kind: hostile, actor: hostile, post: hostile)
        let notice = Notice(
            title: UntrustedText(hostile), body: UntrustedText(hostile + "\n" + hostile), link: UntrustedText(hostile),
            rule: hostile, suppressed: 5)
        let text = line(notice, event, sink: hostile)
        let parsed = try JSONDecoder().decode(Line.self, from: Data(text.utf8))
        for value in [parsed.id, parsed.kind, parsed.actor, parsed.post, parsed.rule, parsed.title, parsed.sink] {
            #expect(value.map { Array($0.utf8) } == Array(hostile.utf8))
        }
        #expect(parsed.body == hostile + "\n" + hostile)
        #expect(parsed.suppressed == 5)
        #expect(!text.unicodeScalars.contains { $0.value < 0x20 || (0x7f...0x9f).contains($0.value) })
    }

    @Test func sameArgumentsGiveTheSameBytes() {
        let event = Event.sample(id: "1", kind: "like", actor: "a", post: "p")
        #expect(line(Notice(rule: "r"), event) == line(Notice(rule: "r"), event.compacted()))
    }
}

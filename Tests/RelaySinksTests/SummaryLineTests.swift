import Foundation
import RelayCore
import Testing

@testable import RelaySinks

/// How sinks show digests and briefings.
struct SummaryLineTests {
    private func line(_ delivery: Delivery, sink: String? = nil) -> String {
        var bytes: [UInt8] = []
        NoticeLine.append(delivery, sink: sink, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func lineOfADigest() {
        #expect(
            line(.digest(suppressed: 37))
                == #"{"type":"digest","key":"p","rule":"likes","count":2,"events":["1","2"],"actors":["alice","bo"],"#
                + #""posts":["p"],"first":"2030-01-02T03:04:05Z","last":"2030-01-02T03:04:05Z","#
                + #""title":"alice and bo liked your post","body":"and 37 more","link":null,"suppressed":37}"#)
    }

    @Test func lineOfABriefingHasItsTime() {
        var delivery = Delivery.digest()
        guard case .digest(var summary) = delivery.content else { return }
        summary.key = UntrustedText("night")
        delivery.content = .briefing(summary)
        #expect(line(delivery).hasPrefix(#"{"type":"briefing","key":"night","rule":"likes","count":2,"#))
        #expect(line(delivery, sink: "s\"x").hasSuffix(#","suppressed":0,"sink":"s\"x"}"#))
    }

    @Test(arguments: HostileText.all)
    func hostileTextStaysInItsString(_ hostile: String) throws {
        let bytes = Array(line(.digest(title: hostile, body: hostile)).utf8)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
        #expect(object["title"] as? String == hostile)
        #expect(!bytes.contains { $0 < 0x20 })
    }

    @Test func aDigestIsOneLineForPeople() {
        var bytes: [UInt8] = []
        TextLine.append(.digest(body: "ann: a\u{1b}\nbo: b", suppressed: 3), style: .plain, to: &bytes)
        #expect(
            String(decoding: bytes, as: UTF8.self).dropFirst(5)
                == "  alice and bo liked your post — ann: a\\u{1b} | bo: b (and 3 more)\n")
    }

    @Test func whatWasSuppressedIsToldOnce() {
        var notice = Notice(title: UntrustedText("t"), body: UntrustedText("b\nc"), suppressed: 3)
        notice.tellSuppressed()
        var bytes: [UInt8] = []
        TextLine.append(notice, .sample(), to: &bytes)
        #expect(String(decoding: bytes, as: UTF8.self).dropFirst(5) == "  t — b\\u{a}c (and 3 more)\n")
        #if Desktop
            #expect(Popup(notice, capabilities: []).body == "b\nc\nand 3 more")
            notice.body = UntrustedText(String(repeating: "x", count: 500))
            notice.tellSuppressed()
            #expect(Popup(notice, capabilities: []).body.hasSuffix("…\nand 3 more"))
            #expect(Popup(Delivery.digest().notice, capabilities: []).icon == "mail")
            #expect(Popup(Notice(), capabilities: []).icon == nil)
        #endif
    }

    @Test func templatesSeeDigestsAndFields() throws {
        let problems = Problems()
        let text =
            #"["{count}", "{actors}", "{posts}", "{actor}", "{post}", "{kind}", "{text}", "{first}", "{field:/a}", "<{id}>"]"#
        let node = try #require(ConfigurationParser.parse(Array(text.utf8), problems: problems))
        let template = try #require(JSONTemplate.read(node, problems))
        #expect(
            String(decoding: WebhookBody.bytes(of: .digest(), template), as: UTF8.self)
                == #"["2","alice and bo","p",null,"p",null,null,"2030-01-02T03:04:05Z",null,"<>"]"#)
        var storage = Array(#"{"a": "x\u0022"}"#.utf8)
        let raw = TextRange(offset: 0, count: UInt32(storage.count))
        storage += Array("idlike".utf8)
        var record = EventRecord(
            identity: EventID(high: 1, low: 1), createdAt: Instant(milliseconds: 0),
            id: TextRange(offset: raw.count, count: 2), kind: TextRange(offset: raw.count + 2, count: 4))
        record.raw = raw
        var delivery = Delivery.digest()
        delivery.content = .event(Event(storage: storage, record: record, stream: "s"))
        #expect(
            String(decoding: WebhookBody.bytes(of: delivery, template), as: UTF8.self)
                == #"["1",null,null,null,null,"like",null,"1970-01-01T00:00:00Z","x\"","<id>"]"#)
    }

    @Test func aDigestOfLongNamesFits() throws {
        var gathering = Gathering()
        for number in 0..<100 {
            let name = "\(number)" + String(repeating: "\u{1b}é", count: 2000)
            gathering.add(.init(.sample(id: name, actor: name, post: name), rule: "r"))
        }
        var delivery = Delivery.digest(title: String(repeating: "\u{1b}", count: 70_000))
        delivery.content = .digest(Summary(key: UntrustedText("k"), of: gathering))
        let body = WebhookBody.bytes(of: delivery, nil)
        #expect(body.count <= WebhookBody.maxBytes)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(body)) as? [String: Any])
        #expect((object["actors"] as? [String])?.count == 100 && object["count"] as? Int == 100)
    }
}

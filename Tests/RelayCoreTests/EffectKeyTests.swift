import RelayCore
import RelayTestKit
import Testing

struct EffectKeyTests {
    private func key(_ event: Event, by fields: [KeyField] = KeyField.allCases) -> EffectKey {
        EffectKey(.limit, rule: "r", sink: "s", by: fields, of: event)
    }

    @Test func textThatMovesFromOneFieldToTheNextIsAnotherKey() {
        let events = [("a", "bc"), ("ab", "c"), ("abc", ""), ("", "abc")].map { Fixtures.event(actor: $0, post: $1) }
        #expect(Set(events.map { key($0) }).count == 4)
        let absent = [Fixtures.event(actor: nil, post: ""), Fixtures.event(actor: "", post: nil)]
        #expect(Set(absent.map { key($0) }).count == 2)
    }

    @Test func theOrderOfTheFieldsDoesNotMatter() {
        let event = Fixtures.event(post: "p")
        #expect(key(event, by: [.kind, .actor]) == key(event, by: [.actor, .kind, .actor]))
        #expect(key(event, by: [.kind]) != key(event, by: [.actor]))
        #expect(key(event, by: [.actor]) == key(Fixtures.event(actor: "ANN", post: "q"), by: [.actor]))
    }

    @Test func rulesSinksAndRolesAreApart() {
        let event = Fixtures.event()
        let keys = [EffectKey.Role.limit, .repeat, .digest].flatMap { role in
            [("r", "s"), ("rs", ""), ("", "rs")].map { EffectKey(role, rule: $0, sink: $1, by: [], of: event) }
        }
        #expect(Set(keys + [EffectKey(othersOf: "r", sink: "s")]).count == 10)
    }

    @Test func theKeysOfDigestsAndBriefingsDifferByTheirSerials() {
        let group = key(Fixtures.event())
        let keys = (1...2 as ClosedRange<UInt64>).flatMap { serial in
            [
                DeliveryKey.digest(rule: "r", sink: "s", group: group, serial: serial),
                DeliveryKey.briefing(sink: "s", time: "r", serial: serial),
            ]
        }
        #expect(Set(keys).count == 4 && keys.allSatisfy { $0.utf8.count == 52 })
    }

    @Test(arguments: [0, 1, 9, 40, 60, 100])
    func anEventIsCutBetweenScalars(_ limit: Int) throws {
        let event = Fixtures.event(
            id: "id", kind: "like", actor: "\u{e9}\u{e9}\u{e9}\u{e9}", text: String(repeating: "\u{1F600}", count: 9),
            link: "https://example.com/p")
        let cut = event.cut(to: limit, keepsRaw: false)
        #expect(cut.storage.count <= limit && cut.storage.count > limit - 5 || cut.storage.count == 71)
        #expect(String(validating: cut.storage, as: UTF8.self) != nil)
        // A link is there whole or not at all.
        let link = cut.text(of: cut.record.link)?.string
        #expect(link == nil || link == "https://example.com/p")
    }
}

import RelayCore
import RelayTestKit
import Testing

@testable import RelayStream

/// Servers that forget, never end, or lead elsewhere.
extension CatchUpRunnerTests {
    @Test(arguments: [404, 410])
    func forgottenCursorIsToldOnceWithTheLengthOfTheGap(_ status: Int) async throws {
        let server = try Server { _ in .send(Server.answer("\(status) Gone")) }
        defer { server.stop() }
        let (reader, _) = try reader(server)
        await running(reader) { await target.ended() }
        let told = recorded.entries.filter { $0.message.contains("gap of") }
        #expect(
            told.map(\.message) == ["gap of 1m30s on stream chirp could not be filled, events may be missing"])
        #expect(told[0].level == .warning && told[0].fields.contains { $0.value.contains("\(status)") })
    }

    @Test func endlessPagesEndAtTheLimit() async throws {
        let server = try Server { request in Self.answer([request.index + 11], next: "\"p\(request.index)\"") }
        defer { server.stop() }
        let (reader, _) = try reader(server, change: { $0.maxPages = 7 })
        await running(reader) { await target.ended() }
        #expect(server.requests.count == 7 && target.numbers == Array(11...17))
        #expect(recorded.text.contains("there are more than 7 pages (maxPages)"))
    }

    @Test func pageThatNamesItselfEndsTheCatchUp() async throws {
        let server = try Server { _ in Self.answer([11], next: "\"same\"") }
        defer { server.stop() }
        let (reader, _) = try reader(server)
        await running(reader) { await target.ended() }
        #expect(server.requests.count == 2)
        #expect(recorded.text.contains("the server names a page as the next one that it gave before"))
    }

    @Test func pageOfEightMebibytesIsTheLargest() async throws {
        let page = Self.page([11])
        let padded = page + String(repeating: " ", count: (8 << 20) - page.utf8.count)
        let server = try Server { request in
            .send(Server.answer("200 OK", [], request.index == 0 ? padded + " " : padded))
        }
        defer { server.stop() }
        let (reader, _) = try reader(server)
        await running(reader) {
            _ = await recorded.first(containing: "the page is larger than 8 MiB")
            #expect(target.numbers.isEmpty)
            _ = await advanceToRetry()
            await target.ended()
        }
        #expect(target.numbers == [11])
    }

    @Test(arguments: [
        ("<html>tok-PLANTED</html>", "the page is not JSON"), ("", "the page is empty"),
        ("{\"events\":7}", "the page has no array at \"/events\""),
        ("{\"events\":[],\"next\":[1]}", "its \"next\" is neither text nor a number"),
        ("{\"events\":[{\"id\":\"e1\",\"kind\":\"k\"}],\"next\":\"EVIL/x\"}", "its \"next\" leads to another origin"),
    ])
    func hostilePageIsAFailureAndNothingOfItIsUsed(_ body: String, _ reason: String) async throws {
        let evil = try Server { _ in Self.answer([66]) }
        let evilURL = evil.url("")
        let server = try Server { _ in
            .send(Server.answer("200 OK", [], body.replacing("EVIL", with: evilURL)))
        }
        defer {
            server.stop()
            evil.stop()
        }
        let (reader, _) = try reader(server)
        await running(reader) {
            let told = await recorded.first(containing: reason)
            #expect(told.level == .warning && told.message.contains("could not fetch what it missed"))
            #expect(await advanceToRetry() <= .seconds(1), "one prompt retry")
            var events = server.events.makeAsyncIterator()
            _ = await events.next()
            _ = await events.next()
            #expect(await advanceToRetry() >= .seconds(285))
        }
        #expect(target.numbers.isEmpty && target.endings == 0)
        #expect(evil.connectionCount == 0)
        #expect(!recorded.text.contains("PLANTED"))
    }

    @Test func redirectIsNotFollowed() async throws {
        let evil = try Server { _ in Self.answer([66]) }
        let location = "Location: " + evil.url("/x?t=tok-PLANTED")
        let server = try Server { _ in .send(Server.answer("302 Found", [location])) }
        defer {
            server.stop()
            evil.stop()
        }
        let (reader, _) = try reader(server)
        await running(reader) {
            let told = await recorded.first(containing: "no redirect is followed")
            #expect(told.fields.contains { $0.value.contains("(it leads to http://127.0.0.1:\(evil.port))") })
        }
        #expect(evil.connectionCount == 0 && !recorded.text.contains("PLANTED"))
    }
}

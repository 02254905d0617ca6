import RelayTestKit
import Testing
import WebSocketCodec

/// Messages taken many at a time, as the relay takes them.
struct TakeMessagesTests {
    /// Feeds `bytes` in pieces and takes messages together as long as that gives any.
    private func take(_ bytes: [UInt8], inPiecesOf size: Int) -> (received: [Received], gaps: Set<UInt8>) {
        var decoder = FrameDecoder(role: .client)
        var received: [Received] = []
        var gaps: Set<UInt8> = []
        var rest = bytes[...]
        repeat {
            decoder.append(rest.prefix(size))
            rest = rest.dropFirst(size)
            var before = received.count
            repeat {
                before = received.count
                var places: [Range<Int>] = []
                decoder.takeMessages(into: &places)
                decoder.withBuffer { buffer in
                    for (one, next) in zip(places, places.dropFirst()) {
                        gaps.formUnion(buffer[one.upperBound..<next.lowerBound])
                    }
                    // Text and binary are not told apart here.
                    received += places.map { .binary(Array(buffer[$0])) }
                }
                do {
                    guard let message = try decoder.next() else { continue }
                    received.append(plain(message, in: decoder))
                } catch {
                    received.append(.fault(error.code))
                }
            } while received.count > before
        } while !rest.isEmpty
        return (received, gaps)
    }

    private func plain(_ message: FrameDecoder.Message, in decoder: borrowing FrameDecoder) -> Received {
        switch message {
        case .text(let range), .binary(let range): .binary(decoder.bytes(of: range))
        case .ping(let payload): .ping(payload)
        case .pong(let payload): .pong(payload)
        case .close(let code, let reason): .close(code, reason)
        }
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func manyAtATimeAreTheSameAsOneByOne(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let frames: [[UInt8]] = [
            frame(0x81, "{}"), frame(0x81, String(repeating: "ü", count: 70)), frame(0x82, "\u{1}\""), frame(0x81, ""),
            frame(0x89, "ping"), frame(0x8A, "pong"), frame(0x01, "a") + frame(0x89, "p") + frame(0x80, "b"),
            frame(0x82, String(repeating: "y", count: 66_000)),
        ]
        let ends =
            [[0x81, 0x02, 0xC3, 0x41], [0x81, 0x01, 0xC3], [0x83, 0x00], [0x88, 0x02, 0x03, 0xE8], []] as [[UInt8]]
        var bytes: [UInt8] = []
        for _ in 0..<40 { bytes += frames[Int(generator.next() % (seed % 4 == 0 ? 8 : 4))] }
        bytes += ends.randomElement(using: &generator) ?? []
        let size = [1, 7, 1000, 65_536, bytes.count].randomElement(using: &generator) ?? 1
        var decoder = FrameDecoder(role: .client)
        let single = decoder.feed(bytes).map { message -> Received in
            if case .text(let text) = message { return .binary(Array(text.utf8)) }
            return message
        }
        let many = take(bytes, inPiecesOf: bytes.count > 100_000 ? max(size, 1000) : size)
        #expect(many.received == single, "seed \(seed)")
        #expect(many.gaps.isSubset(of: [0x20]), "seed \(seed)")
    }
}

import RelayTestKit
import Testing
import WebSocketCodec

/// Properties over random streams of messages, of which the seed is the argument.
struct CodecPropertyTests {
    private static let sizes = [0, 1, 7, 8, 9, 63, 125, 126, 127, 1000, 5000, 65_535, 65_536, 70_000]
    private static let characters = Array("abcdefgh \"\\{}é€😀\u{0}")

    /// Returns random messages and their frames, fragmented at random with control frames in between.
    private static func stream(
        _ generator: inout SeededGenerator, masked: Bool
    ) -> (bytes: [UInt8], messages: [Received]) {
        var bytes: [UInt8] = []
        var messages: [Received] = []
        for _ in 0..<Int.random(in: 1...8, using: &generator) {
            let mask = masked ? UInt32.random(in: .min ... .max, using: &generator) : nil
            switch Int.random(in: 0..<6, using: &generator) {
            case 0:
                let payload = randomBytes(Int.random(in: 0...125, using: &generator), &generator)
                FrameEncoder.appendPing(payload, maskedWith: mask, to: &bytes)
                messages.append(.ping(payload))
            case 1:
                let payload = randomBytes(Int.random(in: 0...125, using: &generator), &generator)
                FrameEncoder.appendPong(payload, maskedWith: mask, to: &bytes)
                messages.append(.pong(payload))
            case 2:
                let payload = randomBytes(sizes.randomElement(using: &generator) ?? 0, &generator)
                FrameEncoder.appendBinary(payload, maskedWith: mask, to: &bytes)
                messages.append(.binary(payload))
            case 3:
                let text = randomText(&generator)
                FrameEncoder.appendText(text, maskedWith: mask, to: &bytes)
                messages.append(.text(text))
            default:
                appendFragmented(&bytes, &messages, masked: masked, &generator)
            }
        }
        if Bool.random(using: &generator) {
            FrameEncoder.appendClose(1000, reason: "done", maskedWith: masked ? 0x0102_0304 : nil, to: &bytes)
            messages.append(.close(1000, "done"))
        }
        return (bytes, messages)
    }

    private static func appendFragmented(
        _ bytes: inout [UInt8], _ messages: inout [Received], masked: Bool, _ generator: inout SeededGenerator
    ) {
        let text = randomText(&generator)
        var rest = Array(text.utf8)[...]
        var opcode = Opcode.text
        repeat {
            let part = Array(rest.prefix(Int.random(in: 0...max(1, rest.count), using: &generator)))
            rest = rest.dropFirst(part.count)
            let start = bytes.count
            let mask = masked ? UInt32.random(in: .min ... .max, using: &generator) : nil
            FrameEncoder.append(opcode, part, maskedWith: mask, to: &bytes)
            if !rest.isEmpty {
                // The encoder writes whole messages; without FIN it is a fragment.
                bytes[start] &= 0x7F
                FrameEncoder.appendPing([7], maskedWith: mask, to: &bytes)
                messages.append(.ping([7]))
            }
            opcode = .continuation
        } while !rest.isEmpty
        messages.append(.text(text))
    }

    private static func randomBytes(_ count: Int, _ generator: inout SeededGenerator) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }

    private static func randomText(_ generator: inout SeededGenerator) -> String {
        let count = (sizes.randomElement(using: &generator) ?? 0) / 3
        return String((0..<count).map { _ in characters.randomElement(using: &generator) ?? "x" })
    }

    @Test(arguments: 0..<UInt64(60))
    func decodingWhatWasEncodedGivesTheMessages(seed: UInt64) {
        for masked in [false, true] {
            var generator = SeededGenerator(seed: seed)
            let (bytes, messages) = Self.stream(&generator, masked: masked)
            var whole = FrameDecoder(role: masked ? .server : .client)
            #expect(whole.feed(bytes) == messages)
            var pieces = FrameDecoder(role: masked ? .server : .client)
            #expect(pieces.feed(bytes, inPiecesOf: Int.random(in: 2...3000, using: &generator)) == messages)
        }
    }

    @Test(arguments: 0..<UInt64(6))
    func byteByByteGivesTheSameAsWhole(seed: UInt64) {
        for masked in [false, true] {
            var generator = SeededGenerator(seed: seed)
            let (bytes, messages) = Self.stream(&generator, masked: masked)
            var decoder = FrameDecoder(role: masked ? .server : .client)
            #expect(decoder.feed(bytes, inPiecesOf: 1) == messages)
        }
    }

    /// Damaged streams: no trap, a bounded buffer, one fault at most, and the same whatever the pieces.
    @Test(arguments: 0..<UInt64(300))
    func damagedStreamIsJudgedAlikeWholeAndInPieces(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let masked = Bool.random(using: &generator)
        var bytes = Self.stream(&generator, masked: masked).bytes
        for _ in 0..<Int.random(in: 1...6, using: &generator) where !bytes.isEmpty {
            // Mostly in the first frames, where heads are.
            let bound = Bool.random(using: &generator) ? min(bytes.count, 40) : bytes.count
            bytes[Int.random(in: 0..<bound, using: &generator)] = UInt8.random(in: .min ... .max, using: &generator)
        }
        var whole = FrameDecoder(role: masked ? .server : .client, maxMessage: 100_000)
        var pieces = whole
        let received = whole.feed(bytes)
        #expect(pieces.feed(bytes, inPiecesOf: Int.random(in: 1...500, using: &generator)) == received)
        #expect(received.count { if case .fault = $0 { true } else { false } } <= 1)
        #expect(pieces.capacity <= 100_000 + LimitTests.allowance)
    }

    @Test func randomBytesNeverTrap() {
        for seed in 0..<UInt64(3000) {
            var generator = SeededGenerator(seed: seed)
            var decoder = FrameDecoder(role: seed % 2 == 0 ? .client : .server, maxMessage: 1000)
            _ = decoder.feed(Self.randomBytes(200, &generator), inPiecesOf: Int.random(in: 1...200, using: &generator))
            #expect(decoder.capacity <= 1000 + LimitTests.allowance, "seed \(seed)")
        }
    }
}

import Testing
import WebSocketCodec

struct LimitTests {
    /// What the decoder may hold beside a message: a read, the slack, and an incomplete control frame.
    static let allowance = FrameDecoder.chunk + FrameDecoder.slack + 256

    @Test func largestMessageIsDeliveredAndOneByteMoreIsNot() throws {
        let event = [UInt8](repeating: 0x20, count: 20_480)
        #expect(decode(frame(0x81, event)) == [.text(String(decoding: event, as: UTF8.self))])
        let limit = FrameDecoder.defaultMaxMessage
        let largest = [UInt8](repeating: 0x61, count: limit)
        #expect(decode(frame(0x81, largest)) == [.text(String(decoding: largest, as: UTF8.self))])

        var decoder = FrameDecoder(role: .client)
        decoder.append(frame(0x81, largest + [0x61]).prefix(10))
        let fault = #expect(throws: ProtocolFault.self) { try decoder.next() }
        #expect(fault?.code == 1009)
        #expect(fault?.message.contains("\(limit) bytes") == true)
        #expect(fault?.message.contains("maxMessage") == true)
        #expect(fault.map { $0.message.utf8.count <= FrameEncoder.longestReason } == true)
    }

    @Test func sumOfFragmentsIsLimited() {
        let part = [UInt8](repeating: 0x61, count: 50)
        let whole = String(decoding: part + part, as: UTF8.self)
        #expect(decode(frame(0x01, part) + frame(0x80, part), maxMessage: 100) == [.text(whole)])
        #expect(decode(frame(0x01, part) + frame(0x80, part), maxMessage: 99) == [.fault(1009)])
        #expect(decode(frame(0x01, part), maxMessage: 49) == [.fault(1009)])
        #expect(decode(frame(0x01, part) + frame(0x00, part) + frame(0x80, "a"), maxMessage: 100) == [.fault(1009)])
    }

    @Test(arguments: [FrameDecoder.Role.client, .server])
    func hugeAnnouncedLengthTakesNoMemory(role: FrameDecoder.Role) {
        var decoder = FrameDecoder(role: role)
        let mask: [UInt8] = role == .server ? [1, 2, 3, 4] : []
        let second: UInt8 = role == .server ? 0xFF : 0x7F
        #expect(decoder.feed([0x82, second, 0x40, 0, 0, 0, 0, 0, 0, 0] + mask) == [.fault(1009)])
        #expect(decoder.capacity <= Self.allowance)
    }

    @Test func limitHasACeiling() {
        #expect(FrameDecoder(role: .client, maxMessage: .max).maxMessage == FrameDecoder.largestMaxMessage)
        #expect(FrameDecoder(role: .client, maxMessage: -1).maxMessage == 0)
    }

    @Test func endlessFragmentsTakeNoMoreThanTheLimit() {
        let part = frame(0x00, [UInt8](repeating: 0x62, count: 65_536))
        var decoder = FrameDecoder(role: .client)
        var received = decoder.feed(frame(0x02, [UInt8](repeating: 0x62, count: 65_536)))
        var count = 1
        var peak = decoder.capacity
        while received.isEmpty && count < 5000 {
            received = decoder.feed(part, inPiecesOf: 10_000)
            peak = max(peak, decoder.capacity)
            count += 1
        }
        #expect(received == [.fault(1009)])
        #expect(count == 17)
        #expect(peak <= FrameDecoder.defaultMaxMessage + Self.allowance)
    }

    @Test(arguments: [0, 1])
    func numberOfFragmentsIsLimited(size: Int) {
        let part = frame(0x00, [UInt8](repeating: 0x62, count: size))
        let parts = Array((0..<1000).map { _ in part }.joined())
        var decoder = FrameDecoder(role: .client)
        var received = decoder.feed(frame(0x02, []))
        var rounds = 0
        while received.isEmpty && rounds < 2000 {
            received = decoder.feed(parts)
            rounds += 1
        }
        #expect(received == [.fault(1009)])
        #expect(decoder.maxFragments == 65_536)
        #expect(rounds == decoder.maxFragments / 1000 + 1)
        #expect(decoder.capacity <= 2 * (decoder.maxFragments + Self.allowance))
    }

    @Test func raisedLimitAllowsMoreFragments() {
        #expect(FrameDecoder(role: .client, maxMessage: 64 << 20).maxFragments == 4 << 20)
        #expect(FrameDecoder(role: .client, maxMessage: 10).maxFragments == 65_536)
    }

    @Test func bufferShrinksAfterALargeMessage() {
        var decoder = FrameDecoder(role: .client)
        let large = [UInt8](repeating: 0x61, count: 1 << 20)
        #expect(decoder.feed(frame(0x82, large)) == [.binary(large)])
        #expect(decoder.capacity > 1 << 20)
        #expect(decoder.feed(frame(0x81, "small")) == [.text("small")])
        #expect(decoder.capacity <= Self.allowance)
    }

    @Test func announcedMessageIsReceivedWithinTheBound() {
        var decoder = FrameDecoder(role: .client)
        let large = frame(0x82, [UInt8](repeating: 0x61, count: 1 << 20))
        var received: [Received] = []
        var peak = 0
        var rest = large[...]
        while !rest.isEmpty {
            let piece = rest.prefix(4096)
            decoder.withWritableBytes { $0.copyBytes(from: piece) }
            decoder.commit(piece.count)
            rest = rest.dropFirst(4096)
            received += decoder.drain()
            peak = max(peak, decoder.capacity)
        }
        #expect(received.count == 1)
        #expect(peak <= FrameDecoder.defaultMaxMessage + Self.allowance)
    }
}

import Testing
import WebSocketCodec

struct FrameDecoderTests {
    @Test(arguments: [0, 1, 125, 126, 127, 65_535, 65_536, 200_000])
    func everyLengthIsDecoded(count: Int) {
        let text = String(repeating: "x", count: count)
        #expect(decode(frame(0x81, text) + frame(0x82, text)) == [.text(text), .binary(Array(text.utf8))])
    }

    /// Frames that break RFC 6455, section 5, as a client sees them.
    @Test(
        arguments: [
            ([0xC1, 0x02, 0x7B, 0x7D], "RSV1"), ([0xA1, 0x00], "RSV2"), ([0x91, 0x00], "RSV3"),
            ([0xC9, 0x00], "RSV1 on a ping"),
            ([0x83, 0x00], "reserved opcode 3"), ([0x87, 0x00], "reserved opcode 7"),
            ([0x8B, 0x00], "reserved opcode 11"),
            ([0x8F, 0x00], "reserved opcode 15"), ([0x81, 0x80, 1, 2, 3, 4], "masked frame from a server"),
            ([0x09, 0x00], "fragmented ping"), ([0x08, 0x00], "fragmented close"), ([0x0A, 0x00], "fragmented pong"),
            ([0x89, 0x7E, 0x00, 0x7E], "ping of 126 bytes"), ([0x88, 0x7F], "close with a long length"),
            ([0x80, 0x00], "continuation of nothing"), ([0x00, 0x00], "continuation of nothing, not final"),
            ([0x81, 0x7E, 0x00, 0x7D], "125 in 2 bytes"),
            ([0x81, 0x7F, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF], "65535 in 8 bytes"),
            ([0x82, 0x7F, 0x80, 0, 0, 0, 0, 0, 0, 0], "length 2^63"),
            ([0x01, 0x01, 0x61, 0x81, 0x01, 0x62], "text inside a fragmented message"),
            ([0x01, 0x01, 0x61, 0x02, 0x01, 0x62], "binary inside a fragmented message"),
            ([0x88, 0x01, 0x03], "close with half a code"),
        ] as [([UInt8], String)])
    func brokenFramesAreProtocolErrors(bytes: [UInt8], what: String) {
        #expect(decode(bytes) == [.fault(1002)], "\(what)")
        var decoder = FrameDecoder(role: .client)
        #expect(decoder.feed(bytes, inPiecesOf: 1) == [.fault(1002)], "\(what), byte by byte")
    }

    @Test func unmaskedFrameFromClientIsProtocolError() {
        var decoder = FrameDecoder(role: .server)
        #expect(decoder.feed(frame(0x81, "hi")) == [.fault(1002)])
    }

    /// The example of RFC 6455, section 5.7.
    @Test func serverUnmasksInPlace() {
        var decoder = FrameDecoder(role: .server)
        let hello: [UInt8] = [0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58]
        #expect(decoder.feed(hello) == [.text("Hello")])
        #expect(decoder.feed(hello, inPiecesOf: 1) == [.text("Hello")])
    }

    @Test func nothingComesAfterFault() {
        var decoder = FrameDecoder(role: .client)
        #expect(decoder.feed([0x83, 0x00] + frame(0x81, "late")) == [.fault(1002)])
        #expect(decoder.isOver)
        #expect(decoder.feed(frame(0x81, "later")) == [])
    }

    @Test func nothingComesAfterClose() {
        var decoder = FrameDecoder(role: .client)
        #expect(decoder.feed(frame(0x88, [0x03, 0xE8]) + frame(0x81, "late")) == [.close(1000, "")])
        #expect(decoder.isOver)
        #expect(decoder.feed(frame(0x89, [])) == [])
    }

    @Test func messageBeforeBrokenFrameIsDelivered() {
        #expect(decode(frame(0x81, "good") + [0xC1, 0x02, 0x7B, 0x7D]) == [.text("good"), .fault(1002)])
    }

    @Test func incompleteFrameYieldsNothing() {
        let whole = frame(0x81, "hello")
        for count in 0..<whole.count {
            var decoder = FrameDecoder(role: .client)
            #expect(decoder.feed(Array(whole.prefix(count))) == [])
            #expect(decoder.feed(Array(whole.dropFirst(count))) == [.text("hello")])
        }
    }

    @Test func messagesOfOneReadStayValidTogether() throws {
        var decoder = FrameDecoder(role: .client)
        decoder.append(
            frame(0x81, "one") + frame(0x01, "tw") + frame(0x89, "p") + frame(0x80, "o") + frame(0x82, "three"))
        var ranges: [Range<Int>] = []
        while let message = try decoder.next() {
            switch message {
            case .text(let range), .binary(let range): ranges.append(range)
            default: break
            }
        }
        #expect(ranges.map { String(decoding: decoder.bytes(of: $0), as: UTF8.self) } == ["one", "two", "three"])
    }

    @Test(arguments: [0, 1, 1000, 65_536, 100_000, 1 << 20])
    func slackIsReadableBehindEveryMessage(count: Int) throws {
        let half = [UInt8](repeating: 0x61, count: count / 2)
        var decoder = FrameDecoder(role: .client)
        for bytes in [frame(0x81, half + half), frame(0x01, half) + frame(0x80, half)] {
            decoder.append(bytes)
            guard case .text(let range)? = try decoder.next() else {
                Issue.record("no text")
                return
            }
            #expect(range.upperBound + FrameDecoder.slack <= decoder.capacity)
            let count = decoder.withBytes(of: range) { $0.count }
            #expect(count == 2 * half.count)
        }
    }
}

import Testing
import WebSocketCodec

struct FrameEncoderTests {
    private func encode(_ body: (inout [UInt8]) -> Void) -> [UInt8] {
        var output: [UInt8] = []
        body(&output)
        return output
    }

    /// The examples of RFC 6455, section 5.7.
    @Test func examplesOfTheStandard() {
        #expect(
            encode { FrameEncoder.appendText("Hello", maskedWith: nil, to: &$0) }
                == [0x81, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F])
        #expect(
            encode { FrameEncoder.appendText("Hello", maskedWith: 0x37FA_213D, to: &$0) }
                == [0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58])
        #expect(
            encode { FrameEncoder.appendPong(Array("Hello".utf8), maskedWith: 0x37FA_213D, to: &$0) }
                == [0x8A, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58])
        let large = [UInt8](repeating: 0, count: 65_536)
        #expect(
            encode { FrameEncoder.appendBinary(large, maskedWith: nil, to: &$0) }.prefix(10)
                == [0x82, 0x7F, 0, 0, 0, 0, 0, 1, 0, 0])
        #expect(
            encode { FrameEncoder.appendBinary(Array(large.prefix(256)), maskedWith: nil, to: &$0) }.prefix(4)
                == [0x82, 0x7E, 0x01, 0x00])
    }

    @Test(arguments: [(0, 2), (125, 2), (126, 4), (65_535, 4), (65_536, 10)])
    func lengthTakesItsShortestForm(count: Int, head: Int) {
        let payload = [UInt8](repeating: 1, count: count)
        #expect(encode { FrameEncoder.append(.binary, payload, maskedWith: nil, to: &$0) }.count == head + count)
        #expect(encode { FrameEncoder.append(.binary, payload, maskedWith: 7, to: &$0) }.count == head + 4 + count)
    }

    @Test func controlPayloadIsCutAtItsLimit() {
        let output = encode { FrameEncoder.appendPing([UInt8](repeating: 1, count: 200), maskedWith: nil, to: &$0) }
        #expect(decode(output) == [.ping([UInt8](repeating: 1, count: 125))])
    }

    @Test func framesAreAppended() {
        let output = encode {
            FrameEncoder.appendText("a", maskedWith: nil, to: &$0)
            FrameEncoder.appendClose(nil, maskedWith: nil, to: &$0)
        }
        #expect(decode(output) == [.text("a"), .close(nil, "")])
    }
}

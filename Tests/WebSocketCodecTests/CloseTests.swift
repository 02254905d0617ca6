import Testing
import WebSocketCodec

struct CloseTests {
    static let allowed: [UInt16] = [
        1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999, 4000, 4999,
    ]
    static let forbidden: [UInt16] = [0, 1, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535]

    private func close(_ code: UInt16, _ reason: [UInt8] = []) -> [UInt8] {
        frame(0x88, [UInt8(code >> 8), UInt8(code & 255)] + reason)
    }

    @Test(arguments: allowed)
    func allowedCodeIsDelivered(code: UInt16) {
        #expect(decode(close(code, Array("bye é".utf8))) == [.close(code, "bye é")])
    }

    @Test(arguments: forbidden)
    func forbiddenCodeIsProtocolError(code: UInt16) {
        #expect(decode(close(code)) == [.fault(1002)])
        var output: [UInt8] = []
        FrameEncoder.appendClose(code, reason: "x", maskedWith: nil, to: &output)
        #expect(output == [0x88, 0x00])
    }

    @Test func closeWithoutCodeHasNone() {
        #expect(decode([0x88, 0x00]) == [.close(nil, "")])
    }

    @Test func closeReasonMustBeUTF8() {
        #expect(decode([0x88, 0x04, 0x03, 0xE8, 0xC3, 0x28]) == [.fault(1007)])
    }

    @Test func longReasonIsCutOnTheBorderOfACharacter() {
        for padding in 0..<4 {
            let reason = String(repeating: "a", count: padding) + String(repeating: "é", count: 100)
            var output: [UInt8] = []
            FrameEncoder.appendClose(1008, reason: reason, maskedWith: nil, to: &output)
            let decoded = decode(output)
            guard case .close(1008, let cut)? = decoded.first else {
                Issue.record("\(decoded)")
                continue
            }
            #expect(reason.hasPrefix(cut))
            #expect((122...123).contains(cut.utf8.count))
        }
    }
}

import Testing
import WebSocketCodec

struct FragmentationTests {
    /// A ping between the parts of a message, as in a stream that answers before the message is complete.
    @Test func controlFrameBetweenFragmentsIsHandedOutAtOnce() {
        let event = #"{"id":"11111111-1111-4111-8111-111111111111","kind":"like","actorUsername":"zoë"}"#
        let bytes = Array(event.utf8)
        var decoder = FrameDecoder(role: .client)
        #expect(decoder.feed(frame(0x01, Array(bytes[..<40])) + [0x89, 0x02, 0x68, 0x69]) == [.ping([0x68, 0x69])])
        #expect(decoder.feed(frame(0x80, Array(bytes[40...]))) == [.text(event)])
    }

    @Test func everySplitGivesTheSameText() {
        let text = "aé€😀z"
        let bytes = Array(text.utf8)
        for split in 0...bytes.count {
            let front = Array(bytes[..<split])
            let back = Array(bytes[split...])
            #expect(decode(frame(0x01, front) + frame(0x80, back)) == [.text(text)], "split at \(split)")
            let padded = frame(0x01, []) + frame(0x00, front) + frame(0x00, []) + frame(0x8A, "p") + frame(0x80, back)
            #expect(decode(padded) == [.pong(Array("p".utf8)), .text(text)], "split at \(split), with empty fragments")
        }
    }

    @Test func emptyFragmentsMakeAnEmptyMessage() {
        #expect(decode(frame(0x01, []) + frame(0x00, []) + frame(0x80, [])) == [.text("")])
        #expect(decode(frame(0x02, []) + frame(0x80, [])) == [.binary([])])
    }

    @Test func closeBetweenFragmentsEndsTheStream() {
        #expect(decode(frame(0x01, "a") + frame(0x88, [0x03, 0xE9]) + frame(0x80, "b")) == [.close(1001, "")])
    }

    @Test func messageAfterFragmentedOneIsItsOwn() {
        let bytes = frame(0x01, "a") + frame(0x80, "b") + frame(0x82, "c") + frame(0x02, "d") + frame(0x80, "e")
        #expect(decode(bytes) == [.text("ab"), .binary([0x63]), .binary([0x64, 0x65])])
        #expect(decode(frame(0x01, "a") + frame(0x80, "b") + frame(0x80, "c")) == [.text("ab"), .fault(1002)])
    }
}

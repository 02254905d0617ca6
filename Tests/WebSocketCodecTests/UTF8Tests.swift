import Testing
import WebSocketCodec

struct UTF8Tests {
    static let invalid: [[UInt8]] = [
        [0x7B, 0x22, 0xC3, 0x28], [0x80], [0xBF], [0xC0, 0xAF], [0xC1, 0xBF], [0xE0, 0x80, 0xAF], [0xE0, 0x9F, 0xBF],
        [0xF0, 0x80, 0x80, 0xAF], [0xF0, 0x8F, 0xBF, 0xBF], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF],
        [0xED, 0xA0, 0x80, 0xED, 0xB0, 0x80],
        [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFE], [0xFF], [0xF8, 0x88, 0x80, 0x80, 0x80],
        [0xE2, 0x28, 0xA1],
        [0xE2, 0x82, 0x28], [0xF0, 0x28, 0x8C, 0xBC], [0xF0, 0x90, 0x28, 0xBC], [0xF0, 0x90, 0x8C, 0x28],
        [0x61, 0xC3], [0x61, 0xE2, 0x82], [0x61, 0xF0, 0x9F, 0x98],
    ]
    static let valid = [
        "", "a", "\u{0}", "\u{7F}", "\u{80}", "\u{7FF}", "\u{800}", "\u{D7FF}", "\u{E000}", "\u{FFFD}", "\u{FFFF}",
        "\u{10000}",
        "\u{10FFFF}", "κόσμε", "日本語テキスト", "👩‍👩‍👧‍👦 and plain text of some length behind it",
    ]

    @Test(arguments: invalid)
    func invalidTextIsRefused(bytes: [UInt8]) {
        // Behind ASCII of every length, so that each place in a word is met.
        for padding in 0..<70 {
            let text = [UInt8](repeating: 0x61, count: padding) + bytes
            #expect(decode(frame(0x81, text)) == [.fault(1007)], "padding \(padding)")
            #expect(decode(frame(0x01, text) + frame(0x80, [])) == [.fault(1007)], "padding \(padding), fragmented")
        }
        #expect(decode(frame(0x82, bytes)) == [.binary(bytes)])
    }

    @Test(arguments: valid)
    func validTextIsDelivered(text: String) {
        for padding in 0..<70 {
            let padded = String(repeating: "a", count: padding) + text
            #expect(decode(frame(0x81, padded + padded)) == [.text(padded + padded)])
            var decoder = FrameDecoder(role: .client)
            #expect(decoder.feed(frame(0x81, padded), inPiecesOf: 1) == [.text(padded)])
        }
    }

    @Test func everyFirstByteIsJudgedAsTheStandardLibraryDoes() {
        // The values on both sides of every border in the table of well-formed sequences.
        let seconds: [UInt8] = [0, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xFF]
        for first in UInt8.min...UInt8.max {
            for second in seconds {
                for tail: [UInt8] in [[], [0x7F], [0x80], [0xBF, 0xBF], [0x80, 0xC0]] {
                    let bytes = [first, second] + tail
                    let isValid = String(validating: bytes, as: UTF8.self) != nil
                    let isAccepted = decode(frame(0x81, bytes)) != [.fault(1007)]
                    if isValid != isAccepted { Issue.record("\(bytes) is \(isValid ? "valid" : "invalid")") }
                }
            }
        }
    }

    @Test func faultIsFoundBeforeTheMessageEnds() {
        var decoder = FrameDecoder(role: .client)
        // A frame of 100 bytes, of which three have come.
        #expect(decoder.feed([0x81, 100, 0x61, 0xC3, 0x28]) == [.fault(1007)])
        #expect(decode(frame(0x01, [0xED, 0xA0])) == [.fault(1007)])
    }
}

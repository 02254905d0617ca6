import RelayCore
import Testing

struct EventIDTests {
    private func id(_ text: String) -> EventID {
        EventID(text: Array(text.utf8).span.bytes)
    }

    @Test func uuidGivesItsBytes() {
        let expected = EventID(
            high: UInt64(bigEndian: 0x0123_4567_89AB_CDEF), low: UInt64(bigEndian: 0xFEDC_BA98_7654_3210))
        #expect(id("01234567-89ab-cdef-fedc-ba9876543210") == expected)
        #expect(id("01234567-89AB-CDEF-FEDC-BA9876543210") == expected)
        #expect(id("{01234567-89aB-CdEf-fEdc-ba9876543210}") == expected)
    }

    @Test(arguments: [
        "01234567-89ab-cdef-fedc-ba987654321", "01234567-89ab-cdef-fedc-ba98765432100",
        "01234567089ab-cdef-fedc-ba9876543210",
        "01234567-89ab-cdef-fedc0ba9876543210", "g1234567-89ab-cdef-fedc-ba9876543210",
        "01234567-89ab-cdef-fedc-ba987654321/",
        "01234567-89ab-cdef-fedc-ba987654321:", "01234567-89ab-cdef-fedc-ba987654321@",
        "01234567-89ab-cdef-fedc-ba987654321`",
        "01234567-89ab-cdef-fedc-ba98765432é", "(01234567-89ab-cdef-fedc-ba9876543210)",
    ])
    func whatIsNoUUIDIsDigested(text: String) {
        #expect(id(text) != id("01234567-89ab-cdef-fedc-ba9876543210"))
        #expect(id(text) == id(text))
    }

    @Test func otherTextGivesTheStartOfItsDigest() {
        // The examples of FIPS 180-4 for SHA-256: "abc" and the empty text.
        #expect(
            id("abc")
                == EventID(
                    high: UInt64(bigEndian: 0xBA78_16BF_8F01_CFEA), low: UInt64(bigEndian: 0x4141_40DE_5DAE_2223)))
        #expect(
            id("")
                == EventID(
                    high: UInt64(bigEndian: 0xE3B0_C442_98FC_1C14), low: UInt64(bigEndian: 0x9AFB_F4C8_996F_B924)))
        #expect(id("abc") != id("ABC"))
    }

    @Test func everyHexDigitIsRead() {
        for digit in 0..<16 {
            let text = String(digit, radix: 16)
            for place in 0..<32 {
                var digits = Array(repeating: "0", count: 32)
                digits[place] = text
                for at in [8, 13, 18, 23] { digits.insert("-", at: at) }
                var bytes = [UInt8](repeating: 0, count: 16)
                bytes[place / 2] = UInt8(digit) << (place % 2 == 0 ? 4 : 0)
                let whole = bytes.span.bytes
                let expected = EventID(
                    high: whole.unsafeLoadUnaligned(fromByteOffset: 0, as: UInt64.self),
                    low: whole.unsafeLoadUnaligned(fromByteOffset: 8, as: UInt64.self))
                #expect(id(digits.joined()) == expected)
                #expect(id(digits.joined().uppercased()) == expected)
            }
        }
    }
}

import GLibRuntime
import Testing

private func hex(_ bytes: [UInt8]) -> String {
    bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
}

struct DigestTests {
    // FIPS 180-4 examples and RFC 3174.
    @Test(arguments: [
        ("", "da39a3ee5e6b4b0d3255bfef95601890afd80709"), ("abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", "84983e441c3bd26ebaae4aa1f95129e5e54670f1"
        ),
    ])
    func sha1(text: String, expected: String) {
        #expect(hex(Checksum.sha1(Array(text.utf8))) == expected)
    }

    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    ])
    func sha256(text: String, expected: String) {
        #expect(hex(Checksum.sha256(Array(text.utf8))) == expected)
    }

    // RFC 4648, section 10.
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("foobar", "Zm9vYmFy"),
    ])
    func base64(text: String, expected: String) {
        #expect(Base64.encode(Array(text.utf8)) == expected)
    }

    // RFC 6455, section 1.3.
    @Test func webSocketAcceptKey() {
        let key = "dGhlIHNhbXBsZSBub25jZQ==258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        #expect(Base64.encode(Checksum.sha1(Array(key.utf8))) == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
    }
}

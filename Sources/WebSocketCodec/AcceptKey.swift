internal import GLibRuntime

/// The proof that a server has read our request as a WebSocket's: RFC 6455, section 4.2.2, step 5.4.
enum AcceptKey {
    /// Returns the `Sec-WebSocket-Accept` that answers a `Sec-WebSocket-Key`.
    static func answer(to key: String) -> String {
        Base64.encode(Checksum.sha1(Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)))
    }

    /// Returns whether `key` is 16 bytes in base64, as section 4.1 asks.
    static func isKey(_ key: String) -> Bool {
        let bytes = Array(key.utf8)
        return bytes.count == 24 && bytes.suffix(2).elementsEqual("==".utf8)
            && bytes.prefix(22).allSatisfy { $0.isDigit || $0.isLetter || $0 == 0x2B || $0 == 0x2F }
    }
}

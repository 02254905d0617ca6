internal import RelayCore

/// Makes text of the server fit for a log line and a status: short, printable, and without our secrets.
enum ServerText {
    /// The most characters that are shown.
    static let limit = 200
    /// A shorter piece of a secret at the end of a cut text gives nothing away.
    private static let shortestPiece = 4

    /// Returns `bytes` as text in which the secrets, control characters and bidirectional controls are replaced.
    static func clean(_ bytes: some Sequence<UInt8>, hiding secrets: [Secret] = []) -> String {
        clean(String(decoding: Array(bytes.prefix(4096)), as: UTF8.self), hiding: secrets)
    }

    /// Returns `text` likewise.
    ///
    /// A server may well repeat the token that it refuses.
    static func clean(_ text: String, hiding secrets: [Secret] = []) -> String {
        var shown = ""
        for scalar in redacted(text, hiding: secrets).unicodeScalars.prefix(limit) {
            shown.unicodeScalars.append(isPrintable(scalar) ? scalar : " ")
        }
        while shown.last == " " { shown.removeLast() }
        return shown
    }

    /// Returns `text` without the secrets, and otherwise as it is.
    static func redacted(_ text: String, hiding secrets: [Secret]) -> String {
        String(decoding: redacted(Array(text.utf8), hiding: secrets), as: UTF8.self)
    }

    /// Returns `bytes` likewise, which may be JSON, in which some servers write every slash as `\/`.
    static func redacted(_ bytes: [UInt8], hiding secrets: [Secret]) -> [UInt8] {
        var bytes = bytes
        for secret in secrets {
            let plain = Array(secret.reveal().utf8)
            let escaped = plain.flatMap { $0 == UInt8(ascii: "/") ? [UInt8(ascii: "\\"), $0] : [$0] }
            redact(plain, in: &bytes)
            if escaped != plain { redact(escaped, in: &bytes) }
        }
        return bytes
    }

    private static func redact(_ secret: [UInt8], in bytes: inout [UInt8]) {
        guard secret.count >= shortestPiece else { return }
        var clean: [UInt8] = []
        var index = 0
        while index < bytes.count {
            // The text may have been cut within the secret, so at its end the beginning of the secret counts too.
            let rest = bytes.count - index
            let length = min(secret.count, rest)
            if length >= shortestPiece, bytes[index..<(index + length)].elementsEqual(secret[..<length]) {
                clean.append(contentsOf: "<redacted>".utf8)
                index += length
            } else {
                clean.append(bytes[index])
                index += 1
            }
        }
        bytes = clean
    }

    private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }
}

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
        for scalar in String(decoding: redacted(Array(text.utf8), hiding: secrets), as: UTF8.self).unicodeScalars
            .prefix(limit)
        {
            shown.unicodeScalars.append(isPrintable(scalar) ? scalar : " ")
        }
        while shown.last == " " { shown.removeLast() }
        return shown
    }

    /// Returns `bytes` without the secrets, also as JSON may write them, with `\/` for a slash.
    static func redacted(_ bytes: [UInt8], hiding secrets: [Secret]) -> [UInt8] {
        var bytes = bytes
        for secret in secrets {
            let value = secret.reveal()
            redact(Array(value.utf8), in: &bytes)
            if value.contains("/") { redact(Array(value.replacing("/", with: "\\/").utf8), in: &bytes) }
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

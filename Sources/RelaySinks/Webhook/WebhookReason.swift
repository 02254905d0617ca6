internal import HTTPClient
internal import RelayCore

/// Makes sentences about answers that may be shown, although a server may send back what it was sent.
struct WebhookReason: Sendable {
    /// What must not be shown, longest first.
    private let needles: [String]
    private let host: String

    /// How many characters (Unicode scalars) of an answer are shown.
    private static let longest = 200
    /// How much of an answer is looked at: longer than the longest URL and what is shown together.
    private static let lookedAt = 16 * 1024
    /// Shorter parts of a URL or a header are words like `hook` and `v1`, not secrets.
    private static let shortestPart = 6

    /// Creates sentences about what `url` with `headers` answers.
    init(url: Secret, headers: [Secret]) {
        let text = url.reveal()
        switch HTTPAddress.parse(text) {
        case .success(let address): host = address.authority
        case .failure: host = "an unknown host"
        }
        let resource = text.drop { $0 != ":" }.dropFirst(3).drop { !"/?#".contains($0) }
        let userInfo = text.drop { $0 != ":" }.dropFirst(3).prefix { !"/?#".contains($0) }.split(separator: "@").dropLast()
        var secrets = [text, String(resource)] + userInfo.map(String.init)
        secrets += (resource + "&" + userInfo.joined(separator: "&")).split { "/?#&=:".contains($0) }.map(String.init)
        for header in headers.map({ $0.reveal() }) {
            secrets += [header] + header.split(separator: " ").map(String.init)
        }
        needles = Set(secrets.filter { $0.utf8.count >= Self.shortestPart }).sorted { ($1.utf8.count, $0) < ($0.utf8.count, $1) }
    }

    /// Returns `HOST answered STATUS: the beginning of the body`.
    func sentence(_ response: HTTPResponse) -> String {
        let body = shown(response.body)
        return "\(host) answered with status \(response.status)" + (body.isEmpty ? "" : ": \(body)")
    }

    /// Says where a redirect leads, by the host alone.
    func redirectSentence(_ response: HTTPResponse) -> String {
        let beginning = "\(host) answered with status \(response.status)"
        guard let location = response.header("location") else { return beginning }
        let target =
            switch HTTPAddress.parse(location) {
            case .success(let address): shown(Array(address.authority.utf8))
            case .failure: "another place"
            }
        return "\(beginning), a redirect to \(target), which is not followed; put the right URL into the rules file"
    }

    /// Returns the beginning of `text` without secrets, control characters and runs of white space.
    func shown(_ text: [UInt8]) -> String {
        var bytes = Array(text.prefix(Self.lookedAt))
        for needle in needles where bytes.count >= needle.utf8.count {
            // By bytes, since a mark that follows would make another character of the last one.
            let parts = bytes.split(separator: Array(needle.utf8), omittingEmptySubsequences: false)
            if parts.count > 1 { bytes = Array(parts.joined(separator: "<redacted>".utf8)) }
        }
        var kept = ""
        var count = 0
        var isBlank = true
        for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
            guard count < Self.longest else { return kept + "…" }
            let isSpace = Self.isHidden(scalar)
            if isSpace, isBlank { continue }
            isBlank = isSpace
            kept.unicodeScalars.append(isSpace ? " " : scalar)
            count += 1
        }
        return isBlank ? String(kept.dropLast()) : kept
    }

    /// Whether a scalar is shown as a space: white space, and what moves a cursor or hides text.
    private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .spaceSeparator, .privateUse, .surrogate,
            .unassigned:
            true
        default: false
        }
    }
}

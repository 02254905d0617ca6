internal import HTTPClient
internal import RelayCore
package import WebSocketCodec

/// The address of the first page of a catch-up, with places for the cursor.
///
/// It prints as its origin only, because path and query may carry a key.
package struct CatchUpURL: Sendable, Equatable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    private enum Part: Equatable {
        case literal(String)
        /// The id of the last event.
        case cursor
        /// Its time, by RFC 3339.
        case cursorTime
    }

    /// Why a text is no such address.
    package struct Fault: Error, Equatable {
        /// What is wrong and what to do, without a full stop.
        package var message: String
    }

    private let parts: [Part]
    /// Where the token goes, and nowhere else.
    let origin: HTTPAddress

    /// Whether the server is told from where on events are wanted.
    package var asksByCursor: Bool { parts.contains(.cursor) || parts.contains(.cursorTime) }
    /// Whether the id of the last event, or a text of the server in its place, has a place in it.
    package var hasCursor: Bool { parts.contains(.cursor) }

    package var description: String { "\(origin.scheme)://\(origin.authority)" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: [:]) }

    /// Parses `text`: a path on the origin of `stream`, with ws as http, or a URL written in full.
    ///
    /// Without TLS it may only stay on this machine, unless `insecure` allows it.
    ///
    /// - Throws: `Fault` with the first thing that is wrong, in words that quote none of the address but a placeholder.
    package init(_ text: String, stream: WebSocketURL, insecure: Bool) throws(Fault) {
        var parts = try Self.parts(of: text)
        guard case .literal(let start)? = parts.first else {
            throw Fault(message: "begins with a placeholder; write a path such as \"/events?after={cursor}\"")
        }
        if start.hasPrefix("/") {
            guard !start.hasPrefix("//") else { throw Fault(message: "has two slashes and no scheme before them") }
            let scheme = stream.secure ? "https" : "http"
            parts[0] = .literal("\(scheme)://\(stream.hostHeader)\(start)")
        } else if !Self.reachesBehindHost(start) {
            throw Self.beginningFault(start)
        }
        if parts.contains(where: { if case .literal(let text) = $0 { text.contains("#") } else { false } }) {
            throw Fault(message: "has a fragment (\"#...\"), which is never sent; leave it out, or write \"%23\"")
        }
        self.parts = parts
        switch HTTPAddress.parse(Self.expanded(parts, cursor: "0", time: "0")) {
        case .failure(let fault): throw Fault(message: "the URL \(fault.message)")
        case .success(let origin): self.origin = origin
        }
        guard !origin.hasUserInfo else {
            throw Fault(message: "has a user or a password before \"@\"; the token of the stream is sent by itself")
        }
        guard origin.scheme == "https" || origin.isLoopback || insecure else {
            throw Fault(message: "http:// would send the token in the clear; use https://, or set \"insecure\": true")
        }
    }

    /// Returns the address that asks for what came after `cursor`, with `text` in the place of its id if there is one.
    func expanded(_ cursor: StreamCursor, text: [UInt8]? = nil) -> Secret {
        Secret(
            Self.expanded(
                parts, cursor: Self.encoded(text ?? cursor.id.utf8),
                time: Self.encoded(Array(TimestampText.format(cursor.createdAt).utf8))))
    }

    private static func expanded(_ parts: [Part], cursor: String, time: String) -> String {
        parts.reduce(into: "") { text, part in
            switch part {
            case .literal(let literal): text += literal
            case .cursor: text += cursor
            case .cursorTime: text += time
            }
        }
    }

    private static func encoded(_ text: [UInt8]) -> String {
        var bytes: [UInt8] = []
        WebLink.appendEncoded(text.span.bytes, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Whether the host is whole before the first placeholder, so that no event can change it.
    private static func reachesBehindHost(_ start: String) -> Bool {
        let scheme = start.lowercased().hasPrefix("https://") ? 8 : start.lowercased().hasPrefix("http://") ? 7 : nil
        guard let scheme else { return false }
        return start.utf8.dropFirst(scheme).contains { "/?".utf8.contains($0) }
    }

    private static func beginningFault(_ start: String) -> Fault {
        let scheme = start.lowercased()
        if scheme.hasPrefix("wss://") { return Fault(message: "pages are fetched over HTTP; write \"https://\"") }
        if scheme.hasPrefix("ws://") { return Fault(message: "pages are fetched over HTTP; write \"http://\"") }
        if scheme.hasPrefix("http://") || scheme.hasPrefix("https://") {
            return Fault(message: "needs a path behind the host, and placeholders only in path and query")
        }
        return Fault(
            message: "expected a path such as \"/events?after={cursor}\", or a URL that begins with \"https://\"")
    }

    /// Takes a text apart; `{{` and `}}` stand for single braces.
    private static func parts(of text: String) throws(Fault) -> [Part] {
        var parts: [Part] = []
        var literal: [UInt8] = []
        func end() {
            if !literal.isEmpty { parts.append(.literal(String(decoding: literal, as: UTF8.self))) }
            literal = []
        }
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "{") || byte == UInt8(ascii: "}") else {
                literal.append(byte)
                continue
            }
            if rest.first == byte {
                rest.removeFirst()
                literal.append(byte)
                continue
            }
            guard byte == UInt8(ascii: "{"), let close = rest.firstIndex(of: UInt8(ascii: "}")) else {
                throw Fault(message: "has a single brace; write it twice, or a placeholder such as {cursor}")
            }
            end()
            parts.append(try part(String(decoding: rest[..<close], as: UTF8.self)))
            rest = rest[rest.index(after: close)...]
        }
        end()
        return parts
    }

    private static func part(_ name: String) throws(Fault) -> Part {
        switch name {
        case "cursor": return .cursor
        case "cursorTime": return .cursorTime
        default:
            let suggestion = NearestName.suggestion(for: name, among: ["cursor", "cursorTime"])
            throw Fault(message: "unknown placeholder \(Shown.quoted("{\(name)}"))\(suggestion)")
        }
    }
}

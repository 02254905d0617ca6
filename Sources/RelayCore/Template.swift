/// What a placeholder of a template stands for.
///
/// A value of the event as it came, `{field:/json/pointer}`, is a part of its own.
package enum Placeholder: String, Sendable, CaseIterable {
    case id, actor, kind, post, text, createdAt, stream
    /// Of a digest; of one event they are its own.
    case count, actors, posts, first, last
    /// Of a rendered notice, in the templates of sinks.
    case title, body, link, rule, sink, key

    /// Those of an event, which titles, bodies, urgencies and links take.
    package static let ofEvents: [Placeholder] = [.id, .actor, .kind, .post, .text, .createdAt, .stream]
    /// Those of a digest, which titles, bodies and urgencies take too.
    package static let ofDigests: [Placeholder] = [.count, .actors, .posts, .first, .last]
}

/// Text with `{placeholders}`, parsed when the file is loaded.
///
/// `{{` and `}}` stand for single braces.
package struct Template: Sendable, Equatable {
    /// A part of a template.
    package enum Part: Sendable, Equatable {
        case literal([UInt8])
        case placeholder(Placeholder)
        /// The text of a value of the event as it came.
        case field(JSONPointer)
    }

    /// The parts in order.
    package let parts: [Part]

    /// Whether it needs the event as it came.
    package var asksForFields: Bool {
        parts.contains { if case .field = $0 { true } else { false } }
    }

    /// Whether it tells a time, which reads otherwise in another zone.
    package var tellsTimes: Bool {
        parts.contains { part in
            switch part {
            case .placeholder(.createdAt), .placeholder(.first), .placeholder(.last): true
            default: false
            }
        }
    }

    /// Parses a string value; reports unknown placeholders and single braces, and returns nil for them.
    package static func read(
        _ node: ConfigurationNode, allowed: [Placeholder], _ problems: Problems
    ) -> Template? {
        guard let text = node.string(problems) else { return nil }
        switch parse(text, allowed: allowed) {
        case .success(let template): return template
        case .failure(let fault):
            problems.add(at: node, fault.message)
            return nil
        }
    }

    /// Why a text is no template.
    package struct Fault: Error, Equatable {
        /// What is wrong and what to do.
        package var message: String
    }

    /// Parses `text`.
    package static func parse(_ text: String, allowed: [Placeholder]) -> Result<Template, Fault> {
        var parts: [Part] = []
        var literal: [UInt8] = []
        var rest = text.utf8[...]
        let open = UInt8(ascii: "{")
        let close = UInt8(ascii: "}")
        while let byte = rest.popFirst() {
            if byte == rest.first, byte == open || byte == close {
                rest.removeFirst()
                literal.append(byte)
            } else if byte == close {
                return .failure(Fault(message: "a single \"}\"; write \"}}\" for a brace"))
            } else if byte == open {
                guard let end = rest.firstIndex(of: close) else {
                    return .failure(Fault(message: "a \"{\" without its \"}\"; write \"{{\" for a brace"))
                }
                let name = String(decoding: rest[..<end], as: UTF8.self)
                if !literal.isEmpty { parts.append(.literal(literal)) }
                literal = []
                switch part(name, allowed: allowed) {
                case .success(let part): parts.append(part)
                case .failure(let fault): return .failure(fault)
                }
                rest = rest[rest.index(after: end)...]
            } else {
                literal.append(byte)
            }
        }
        if !literal.isEmpty { parts.append(.literal(literal)) }
        return .success(Template(parts: parts))
    }

    private static func part(_ name: String, allowed: [Placeholder]) -> Result<Part, Fault> {
        let prefix = "field:"
        if name.hasPrefix(prefix) {
            let text = String(name.dropFirst(prefix.count))
            if let pointer = JSONPointer(text), !pointer.keys.isEmpty { return .success(.field(pointer)) }
            return .failure(Fault(message: text.isEmpty ? "\"{field:}\" names no value" : JSONPointer.fault(of: text)))
        }
        if let placeholder = Placeholder(rawValue: name), allowed.contains(placeholder) {
            return .success(.placeholder(placeholder))
        }
        if name == "field" {
            return .failure(Fault(message: "\"{field}\" is written with a JSON Pointer, as in \"{field:/user/name}\""))
        }
        let suggestion = NearestName.suggestion(for: name, among: allowed.map(\.rawValue))
        return .failure(Fault(message: "unknown placeholder \(Shown.quoted("{\(name)}"))\(suggestion)"))
    }

    /// Whether there is any placeholder.
    package var hasPlaceholders: Bool {
        parts.contains { if case .literal = $0 { false } else { true } }
    }
}

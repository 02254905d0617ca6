/// What a placeholder of a template stands for.
package enum Placeholder: String, Sendable, CaseIterable {
    case id, actor, kind, post, text, createdAt, stream
    /// Of a rendered notice, in the templates of sinks.
    case title, body, link, rule, sink, key
}

extension Placeholder {
    /// Whether a name belongs to a placeholder that a later version fills.
    static func isPlanned(_ name: String) -> Bool {
        ["count", "actors", "posts", "first", "last", "field"].contains(name) || name.hasPrefix("field:")
    }
}

/// Text with `{placeholders}`, parsed when the file is loaded. `{{` and `}}` stand for single braces.
package struct Template: Sendable, Equatable {
    /// A part of a template.
    package enum Part: Sendable, Equatable {
        case literal([UInt8])
        case placeholder(Placeholder)
    }

    /// The parts in order.
    package let parts: [Part]

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
                guard let placeholder = Placeholder(rawValue: name), allowed.contains(placeholder) else {
                    return .failure(Fault(message: refusal(of: name, allowed: allowed)))
                }
                if !literal.isEmpty { parts.append(.literal(literal)) }
                literal = []
                parts.append(.placeholder(placeholder))
                rest = rest[rest.index(after: end)...]
            } else {
                literal.append(byte)
            }
        }
        if !literal.isEmpty { parts.append(.literal(literal)) }
        return .success(Template(parts: parts))
    }

    private static func refusal(of name: String, allowed: [Placeholder]) -> String {
        let shown = Shown.quoted("{\(name)}")
        if Placeholder.isPlanned(name) { return "the placeholder \(shown) is not supported yet" }
        return "unknown placeholder \(shown)" + NearestName.suggestion(for: name, among: allowed.map(\.rawValue))
    }

    /// Appends the text to `bytes`, calling `append` for every placeholder.
    @inlinable
    package func render(into bytes: inout [UInt8], _ append: (Placeholder, inout [UInt8]) -> Void) {
        for part in parts {
            switch part {
            case .literal(let literal): bytes.append(contentsOf: literal)
            case .placeholder(let placeholder): append(placeholder, &bytes)
            }
        }
    }
}

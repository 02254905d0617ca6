/// A link with `{placeholders}`, such as `https://chirp.example.com/posts/{post}`.
///
/// The scheme and the host are as written; placeholders stand in path, query or fragment and are percent-encoded,
/// so nothing that a stranger wrote leads elsewhere.
package struct LinkTemplate: Sendable, Equatable {
    /// The placeholders that a link takes.
    package static let placeholders: [Placeholder] = Placeholder.ofEvents

    /// The parts; literals are ready to use.
    private let template: Template

    /// Whether it needs the event as it came.
    package var asksForFields: Bool { template.asksForFields }

    /// Parses a string value; reports what is wrong with it and returns nil.
    package static func read(_ node: ConfigurationNode, _ problems: Problems) -> LinkTemplate? {
        guard let template = Template.read(node, allowed: placeholders, problems) else { return nil }
        switch checked(template) {
        case .success(let link): return link
        case .failure(let fault):
            problems.add(at: node, fault.message)
            return nil
        }
    }

    /// Checks that a template is a link whose host is as written.
    static func checked(_ template: Template) -> Result<LinkTemplate, Template.Fault> {
        guard case .literal(let start) = template.parts.first, let scheme = WebLink.schemeCount(start.span.bytes) else {
            return .failure(Template.Fault(message: "a link begins with \"https://\" or \"http://\" as written"))
        }
        let host = start[scheme...].prefix { !WebLink.endsHost($0) }
        if host.isEmpty, scheme < start.count || template.parts.count == 1 {
            return .failure(Template.Fault(message: "the link has no host"))
        }
        if scheme + host.count == start.count, template.parts.count > 1 {
            return .failure(
                Template.Fault(message: "a placeholder cannot stand in the host; the host ends with \"/\" before it"))
        }
        guard host.allSatisfy(WebLink.isHostByte) else {
            return .failure(
                Template.Fault(message: "the host of the link is letters, digits, dots and hyphens, without a password")
            )
        }
        var parts: [Template.Part] = []
        for part in template.parts {
            guard case .literal(let literal) = part else {
                parts.append(part)
                continue
            }
            guard !literal.contains(where: WebLink.isNeverInLinks) else {
                return .failure(
                    Template.Fault(
                        message: "the link has a character that no link has, such as a space; write it as %20"))
            }
            var encoded: [UInt8] = []
            for byte in literal { byte < 0x80 ? encoded.append(byte) : WebLink.appendEncoded(byte, to: &encoded) }
            parts.append(.literal(encoded))
        }
        return .success(LinkTemplate(template: Template(parts: parts)))
    }

    /// Appends the link of an event to `bytes`, or nothing if the event lacks a placeholder of it.
    ///
    /// - Returns: whether there was a link.
    @discardableResult
    package func append(for event: Event, to bytes: inout [UInt8]) -> Bool {
        let before = bytes.count
        for part in template.parts {
            switch part {
            case .literal(let literal): bytes.append(contentsOf: literal)
            case .placeholder(let placeholder):
                guard append(placeholder, of: event, to: &bytes) else {
                    bytes.removeSubrange(before...)
                    return false
                }
            case .field(let pointer):
                guard let text = event.text(of: pointer), !text.isEmpty else {
                    bytes.removeSubrange(before...)
                    return false
                }
                WebLink.appendEncoded(text.utf8.span.bytes, to: &bytes)
            }
        }
        return true
    }

    private func append(_ placeholder: Placeholder, of event: Event, to bytes: inout [UInt8]) -> Bool {
        let range: TextRange
        switch placeholder {
        case .id: range = event.record.id
        case .actor: range = event.record.actor
        case .kind: range = event.record.kind
        case .post: range = event.record.post
        case .text: range = event.record.text
        case .createdAt:
            for byte in TimestampText.format(event.record.createdAt).utf8 { WebLink.appendEncoded(byte, to: &bytes) }
            return true
        case .stream:
            for byte in event.stream.utf8 { WebLink.appendEncoded(byte, to: &bytes) }
            return true
        case .count, .actors, .posts, .first, .last, .title, .body, .link, .rule, .sink, .key: return false
        }
        guard range.isPresent, range.count > 0 else { return false }
        event.withBytes(of: range) { WebLink.appendEncoded($0, to: &bytes) }
        return true
    }
}

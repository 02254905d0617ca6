/// Where a secret comes from.
///
/// The rules file names the place, never the value.
package enum SecretSource: Sendable, Hashable {
    /// An environment variable.
    case environment(String)
    /// A file, of which one trailing newline is cut. `insecure` allows that others may read it.
    case file(path: String, insecure: Bool)
    /// The output of a command, without a shell, of which one trailing newline is cut.
    case command([String])
    /// A systemd credential: a file in `$CREDENTIALS_DIRECTORY`.
    case credential(String)

    /// What it is, for messages: `environment variable NAME`, `file PATH`.
    package var label: String {
        switch self {
        case .environment(let name): "environment variable \(name)"
        case .file(let path, _): "file \(path)"
        case .command(let words): "command \(words.first ?? "")"
        case .credential(let name): "credential \(name)"
        }
    }

    /// Reads `{"env": …}`, `{"file": …}`, `{"command": […]}` or `{"credential": …}`; reports problems and returns nil.
    ///
    /// Where it stands is noted in `problems`, for whoever finds out later that the secret is not there.
    package static func read(_ node: ConfigurationNode, _ problems: Problems) -> SecretSource? {
        guard let source = parse(node, problems) else { return nil }
        problems.note(source, at: node)
        return source
    }

    private static func parse(_ node: ConfigurationNode, _ problems: Problems) -> SecretSource? {
        if case .string = node.value {
            problems.add(
                at: node,
                "a secret is not written here; name its place: {\"env\": \"NAME\"}, {\"file\": \"path\"} or {\"command\": [...]}"
            )
            return nil
        }
        guard var reader = ObjectReader(node, problems) else { return nil }
        let environment = reader.optional("env")
        let file = reader.optional("file")
        let command = reader.optional("command")
        let credential = reader.optional("credential")
        let insecure = reader.bool("insecure", default: false)
        reader.finish()
        guard [environment, file, command, credential].count(where: { $0 != nil }) == 1 else {
            problems.add(at: node, "a secret has exactly one of \"env\", \"file\", \"command\" and \"credential\"")
            return nil
        }
        if let environment { return name(environment, problems).map { .environment($0) } }
        if let file { return name(file, problems).map { .file(path: $0, insecure: insecure) } }
        if let credential { return name(credential, problems).map { .credential($0) } }
        guard let command, case .array(let words) = command.value, !words.isEmpty else {
            problems.add(
                at: node, "\"command\" is a list of words, such as [\"secret-tool\", \"lookup\", \"app\", \"chirp\"]")
            return nil
        }
        let texts = words.compactMap { $0.string(problems) }
        return texts.count == words.count ? .command(texts) : nil
    }

    private static func name(_ node: ConfigurationNode, _ problems: Problems) -> String? {
        guard let text = node.string(problems) else { return nil }
        guard !text.isEmpty, !text.utf8.contains(0) else {
            problems.add(at: node, "must not be empty")
            return nil
        }
        return text
    }
}

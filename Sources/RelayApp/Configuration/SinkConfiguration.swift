internal import RelayCore
internal import RelaySinks

/// One entry of `sinks` in the rules file.
struct SinkConfiguration: Sendable {
    /// The types of sinks, each with its own keys.
    enum Kind: Sendable {
        case stdout(StdoutConfiguration)
        case webhook(WebhookConfiguration)
        #if Desktop
            case desktop(DesktopConfiguration)
        #endif
    }

    /// The name.
    var name: String
    /// The type and what its keys say.
    var kind: Kind
    /// Whether its effects are accepted by a commit before they are delivered.
    var isDurable: Bool
    /// When deliveries that wait for it are folded into digests; nil for never.
    var backlog: BacklogPolicy?
    /// What the file says of it.
    var fingerprint: [UInt8] = []

    /// The values of `backlog`.
    private enum Backlog: String, CaseIterable {
        /// What waits long is folded into digests.
        case digest
        /// Each delivery goes alone.
        case each
    }

    private static let types = ["stdout", "desktop", "webhook"]
    private static let typesNotYet = ["slack", "matrix", "discord", "mattermost", "ntfy", "gotify"]

    /// Reads the entry `name`; adds all that is wrong with it to `problems`, and returns nil if it is unusable.
    static func read(name: String, node: ConfigurationNode, problems: Problems) -> SinkConfiguration? {
        guard var reader = ObjectReader(node, problems) else { return nil }
        guard let typeNode = reader.required("type"), let type = typeNode.string(problems) else { return nil }
        let durable = reader.optional("durable")?.bool(problems)
        let backlog: Backlog? = reader.optional("backlog")?.choice(problems, of: "backlog")
        switch type {
        case "stdout":
            let configuration = StdoutConfiguration.read(&reader)
            reader.finish()
            return SinkConfiguration(
                name: name, kind: .stdout(configuration), isDurable: durable ?? false,
                backlog: backlog == .digest ? BacklogPolicy() : nil)
        case "desktop":
            guard let kind = desktop(typeNode, reader) else { return nil }
            return SinkConfiguration(
                name: name, kind: kind, isDurable: durable ?? true, backlog: backlog == .each ? nil : .desktop)
        case "webhook":
            let configuration = WebhookConfiguration.read(&reader)
            reader.finish(notYet: WebhookConfiguration.notYetKeys)
            return configuration.map {
                SinkConfiguration(
                    name: name, kind: .webhook($0), isDurable: durable ?? true,
                    backlog: backlog == .digest ? BacklogPolicy() : nil)
            }
        default:
            let suggestion = NearestName.suggestion(for: type, among: types + typesNotYet)
            problems.add(
                at: typeNode,
                typesNotYet.contains(type)
                    ? "the type \"\(type)\" is not supported yet" : "unknown type \(Shown.quoted(type))\(suggestion)")
            return nil
        }
    }

    #if Desktop
        private static func desktop(_ typeNode: ConfigurationNode, _ reader: consuming ObjectReader) -> Kind? {
            let configuration = DesktopConfiguration.read(&reader)
            reader.finish(notYet: DesktopConfiguration.notYet)
            return .desktop(configuration)
        }
    #else
        private static func desktop(_ typeNode: ConfigurationNode, _ reader: consuming ObjectReader) -> Kind? {
            reader.problems.add(at: typeNode, "this build has no desktop popups; build it with the trait Desktop")
            return nil
        }
    #endif
}

/// Reads the members of one object strictly: what is not taken by the end is a problem.
///
/// Keys that begin with `_` or `x-` are free for notes and other programs: nobody reads or reports them.
package struct ObjectReader {
    /// The object that is read.
    package let node: ConfigurationNode
    /// Where problems go.
    package let problems: Problems
    private let members: [ConfigurationNode.Member]
    private var known: [String] = []
    /// Whether the keys are names that the user chooses.
    private var isOpen = false

    /// Begins to read `node`; reports a problem and returns nil if it is no object.
    package init?(_ node: ConfigurationNode, _ problems: Problems) {
        guard case .object(let members) = node.value else {
            problems.add(at: node, "expected an object, found \(node.kind)")
            return nil
        }
        self.node = node
        self.problems = problems
        self.members = members
    }

    /// Takes the member `key`, or nil if the object has none.
    package mutating func optional(_ key: String) -> ConfigurationNode? {
        known.append(key)
        return members.first { $0.key == key }?.value
    }

    /// Takes the member `key`; its absence is a problem.
    package mutating func required(_ key: String) -> ConfigurationNode? {
        let value = optional(key)
        if value == nil { problems.add(at: node, "the key \"\(key)\" is missing") }
        return value
    }

    /// Takes a string member, or nil if it is absent or wrong (which is reported).
    package mutating func string(_ key: String) -> String? {
        optional(key)?.string(problems)
    }

    /// Takes a boolean member, or `standard` if it is absent or wrong (which is reported).
    package mutating func bool(_ key: String, default standard: Bool) -> Bool {
        optional(key)?.bool(problems) ?? standard
    }

    /// Takes a duration member, or `standard` if it is absent or wrong (which is reported).
    package mutating func duration(
        _ key: String, default standard: Duration, in range: ClosedRange<Duration>
    ) -> Duration {
        optional(key)?.duration(problems, in: range) ?? standard
    }

    /// Takes a whole number, or `standard` if it is absent or wrong (which is reported).
    package mutating func integer(_ key: String, default standard: Int, in range: ClosedRange<Int>) -> Int {
        optional(key)?.integer(problems, in: range) ?? standard
    }

    /// Takes all members, for an object whose keys are names that the user chooses.
    package mutating func takeAll() -> [ConfigurationNode.Member] {
        isOpen = true
        let named = members.filter { !Self.isFree($0.key) }
        known += named.map(\.key)
        return named
    }

    /// Takes the member `key` and reports it as not supported yet, if it is there.
    package mutating func refuse(_ key: String) {
        known.append(key)
        guard let member = members.first(where: { $0.key == key }) else { return }
        report(member, "\"\(key)\" is not supported yet")
    }

    /// Whether a key is free for notes.
    package static func isFree(_ key: String) -> Bool { key.hasPrefix("_") || key.hasPrefix("x-") }

    /// Reports every member that was not taken: those of `notYet` as not supported yet, others as unknown with the
    /// nearest known name.
    package consuming func finish(notYet: [String] = []) {
        if !isOpen { problems.note(known, of: node) }
        let known = Set(known)
        for member in members where !known.contains(member.key) && !Self.isFree(member.key) {
            let shown = Shown.quoted(member.key)
            if notYet.contains(member.key) {
                report(member, "\(shown) is not supported yet")
            } else {
                let suggestion = NearestName.suggestion(for: member.key, among: self.known)
                report(member, "unknown key \(shown)\(suggestion)")
            }
        }
    }

    private func report(_ member: ConfigurationNode.Member, _ message: String) {
        let path = ConfigurationPath(key: member.key, in: node.place).text
        problems.add(Problem(.error, at: member.keyPosition, path: path, message: message))
    }
}

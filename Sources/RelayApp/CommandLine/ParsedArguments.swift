internal import RelayCore

/// The words after the command's name, sorted out.
struct ParsedArguments: Sendable, Equatable {
    /// Why the words are not understood: one sentence for a person.
    struct Fault: Error, Equatable, CustomStringConvertible {
        var description: String
    }

    /// The values of the options given, by name; a switch has an empty value.
    private(set) var options: [String: String] = [:]
    /// The operands, in the order given.
    private(set) var operands: [String] = []

    /// The first operand, if one was given.
    var operand: String? { operands.first }

    /// Sorts out `words` by what `spec` takes.
    ///
    /// An option that stands twice counts as it stands last.
    init(_ words: some Sequence<String>, spec: CommandSpec) throws(Fault) {
        var words = Array(words)[...]
        var onlyOperands = false
        while let word = words.popFirst() {
            if word == "-h", !onlyOperands {
                options[CommandSpec.helpOption.name] = ""
            } else if word == "--", !onlyOperands {
                onlyOperands = true
            } else if word.hasPrefix("--"), !onlyOperands {
                try takeOption(word.dropFirst(2), from: &words, spec: spec)
            } else if word.hasPrefix("-"), word != "-", !onlyOperands {
                throw Fault(description: "unknown option \(word); options begin with two dashes")
            } else {
                try takeOperand(word, spec: spec)
            }
        }
    }

    /// Whether a switch was given.
    func has(_ name: String) -> Bool { options[name] != nil }

    private mutating func takeOption(
        _ text: Substring, from words: inout ArraySlice<String>, spec: CommandSpec
    ) throws(Fault) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts.first ?? "")
        let known = spec.options + [CommandSpec.helpOption]
        guard let option = known.first(where: { $0.name == name }) else {
            throw Fault(
                description: "unknown option --\(name)"
                    + NearestName.suggestion(for: "--\(name)", among: known.map { "--\($0.name)" }))
        }
        guard let kind = option.value else {
            guard parts.count == 1 else { throw Fault(description: "--\(name) takes no value") }
            options[name] = ""
            return
        }
        guard let value = parts.count == 2 ? String(parts[1]) : words.popFirst(), !value.isEmpty else {
            throw Fault(description: "--\(name) needs a value: --\(name) \(kind)")
        }
        options[name] = value
    }

    private mutating func takeOperand(_ word: String, spec: CommandSpec) throws(Fault) {
        guard spec.operand != nil else { throw Fault(description: "\(spec.name) takes no argument \"\(word)\"") }
        guard operands.count < spec.mostOperands else {
            let enough = spec.mostOperands == 1 ? "one argument is" : "\(spec.mostOperands) arguments are"
            throw Fault(description: "\(enough) enough, \"\(word)\" is too much")
        }
        operands.append(word)
    }
}

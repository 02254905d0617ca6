extension ConfigurationNode {
    /// Returns the choice that a string names; reports another text, with the nearest or with all that there are.
    package func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ problems: Problems, of noun: String
    ) -> Choice? {
        guard let text = string(problems) else { return nil }
        if let choice = Choice(rawValue: text) { return choice }
        let names = Choice.allCases.map(\.rawValue)
        let suggestion = NearestName.suggestion(for: text, among: names)
        let quoted = names.map { "\"\($0)\"" }
        let all = quoted.dropLast().joined(separator: ", ") + " or " + (quoted.last ?? "")
        problems.add(
            at: self, "there is no \(noun) \(Shown.quoted(text))\(suggestion.isEmpty ? "; it is \(all)" : suggestion)")
        return nil
    }
}

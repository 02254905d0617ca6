internal import GLibRuntime
internal import RelayCore

/// How the values of a field compare.
enum Comparison: Sendable, Hashable {
    /// Byte by byte.
    case exact
    /// Byte by byte, but UUIDs in any case.
    case exactOrUUID
    /// In NFC and casefolded.
    case folded

    /// Returns a value of the file in the form in which it is compared.
    func form(of text: String) -> [UInt8] {
        switch self {
        case .exact: return Array(text.utf8)
        case .folded: return TextFolding.fold(Array(text.utf8))
        case .exactOrUUID:
            let bytes = Array(text.utf8)
            return UUIDText.form(of: bytes.span.bytes)
        }
    }
}

/// The values of one condition, joined by *or*.
final class ValueSet: Sendable {
    /// The literals in the form in which they are compared, each once.
    let literals: [[UInt8]]
    private let table: NameTable
    /// The globs in the form in which they are compared.
    let globs: [Glob]
    private let patterns: [TextPattern]
    private let comparison: Comparison

    /// Creates a set; `literals` and `globs` are as written in the file.
    init(literals: [String], globs: [String], patterns: [TextPattern], _ comparison: Comparison) {
        var seen: Set<[UInt8]> = []
        self.literals = literals.map { comparison.form(of: $0) }.filter { seen.insert($0).inserted }
        table = NameTable(self.literals)
        self.globs = globs.map { Glob(comparison == .folded ? TextFolding.fold(Array($0.utf8)) : Array($0.utf8)) }
        self.patterns = patterns
        self.comparison = comparison
    }

    /// Whether all values are literals, so that an index can hold them.
    var isLiteral: Bool { globs.isEmpty && patterns.isEmpty }

    /// Whether a literal or a glob matches a text that is in the form in which it is compared.
    func containsName(_ form: [UInt8]) -> Bool {
        let bytes = form.span.bytes
        return table.find(exactly: bytes) != .absent || matchesGlobs(bytes, folding: false)
    }

    /// Whether one of the values matches a text; that of a field is folded once an event.
    func matches(_ text: RawSpan, _ field: Field?, _ scratch: inout Scratch) -> Bool {
        if matchesNames(text, field, &scratch) { return true }
        for pattern in patterns {
            switch pattern.match(text) {
            case .yes: return true
            case .no: break
            case .overLimit: scratch.isOverLimit = true
            }
        }
        return false
    }

    private func matchesNames(_ text: RawSpan, _ field: Field?, _ scratch: inout Scratch) -> Bool {
        switch comparison {
        case .exact:
            return table.find(exactly: text) != .absent || matchesGlobs(text, folding: false)
        case .exactOrUUID:
            let isUUID = UUIDText.isUUID(text)
            let found = isUUID ? table.find(folding: text) : table.find(exactly: text)
            return found != .absent || matchesGlobs(text, folding: false)
        case .folded:
            switch table.find(folding: text) {
            case .found: return true
            case .absent: return matchesGlobs(text, folding: true)
            case .needsFolding:
                let folded = scratch.folded(text, of: field)
                let bytes = folded.span.bytes
                return table.find(exactly: bytes) != .absent || matchesGlobs(bytes, folding: false)
            }
        }
    }

    private func matchesGlobs(_ text: RawSpan, folding: Bool) -> Bool {
        for glob in globs where glob.matches(text, folding: folding) { return true }
        return false
    }
}

/// The way from the top of a configuration file to a value, shared by all values below it.
///
/// A node holds one reference: texts of their own for a million nodes under a long key would take gigabytes.
package final class ConfigurationPath: Sendable {
    private enum Step {
        case root(String)
        case key(String)
        case index(Int)
    }

    private let parent: ConfigurationPath?
    private let step: Step

    /// Begins at a place that `text` names; empty for the top of the file.
    package init(root text: String) {
        parent = nil
        step = .root(text)
    }

    /// Goes on to the member `key`.
    package init(key: String, in parent: ConfigurationPath) {
        self.parent = parent
        step = .key(key)
    }

    /// Goes on to the element `index`.
    package init(index: Int, in parent: ConfigurationPath) {
        self.parent = parent
        step = .index(index)
    }

    /// The keys on the way from the top; each element of an array is `[]`.
    package var keys: [String] {
        let before = parent?.keys ?? []
        switch step {
        case .root: return before
        case .index: return before + ["[]"]
        case .key(let key): return before + [key]
        }
    }

    /// The path as people read it, such as `rules[2].when.kind`; keys that are no plain words are quoted.
    package var text: String {
        let before = parent?.text ?? ""
        switch step {
        case .root(let text): return text
        case .index(let index): return "\(before)[\(index)]"
        case .key(let key):
            guard Self.isPlain(key) else { return "\(before)[\(Shown.quoted(key))]" }
            return before.isEmpty ? key : "\(before).\(key)"
        }
    }

    private static func isPlain(_ key: String) -> Bool {
        !key.isEmpty && key.utf8.count <= 64
            && key.utf8.allSatisfy { byte in
                byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "$")
                    || Character(Unicode.Scalar(byte)).isLetter && byte < 0x80
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            }
    }
}

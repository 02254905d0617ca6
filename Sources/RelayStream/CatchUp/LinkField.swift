/// The header field `Link` (RFC 8288, section 3), of which one relation is looked for.
enum LinkField {
    /// Returns the target of the first link with the relation `next`, as written; nil if there is none.
    ///
    /// What is not well formed ends the field: nothing behind it is believed.
    static func next(in fields: [String]) -> String? {
        for field in fields {
            var rest = field.utf8[...]
            while let link = takeLink(&rest) {
                if link.isNext { return link.target }
            }
        }
        return nil
    }

    private static func takeLink(_ rest: inout Substring.UTF8View) -> (target: String, isNext: Bool)? {
        rest = rest.drop { isBlank($0) || $0 == UInt8(ascii: ",") }
        guard rest.popFirst() == UInt8(ascii: "<"), let end = rest.firstIndex(of: UInt8(ascii: ">")) else { return nil }
        let target = String(decoding: rest[..<end], as: UTF8.self)
        rest = rest[rest.index(after: end)...]
        var relation: String?
        while true {
            rest = rest.drop(while: isBlank)
            guard rest.first == UInt8(ascii: ";") else { break }
            rest.removeFirst()
            guard let parameter = takeParameter(&rest) else { return nil }
            // Of several the first one counts (section 3.3).
            if parameter.name == "rel", relation == nil { relation = parameter.value }
        }
        guard rest.isEmpty || rest.first == UInt8(ascii: ",") else { return nil }
        let relations = relation?.lowercased().split { $0 == " " || $0 == "\t" } ?? []
        return (target, relations.contains("next"))
    }

    private static func takeParameter(_ rest: inout Substring.UTF8View) -> (name: String, value: String)? {
        rest = rest.drop(while: isBlank)
        let name = rest.prefix { !isBlank($0) && !"=;,".utf8.contains($0) }
        rest = rest[name.endIndex...].drop(while: isBlank)
        let lowercased = String(decoding: name, as: UTF8.self).lowercased()
        guard rest.first == UInt8(ascii: "=") else { return (lowercased, "") }
        rest = rest.dropFirst().drop(while: isBlank)
        guard rest.first == UInt8(ascii: "\"") else {
            let value = rest.prefix { !isBlank($0) && !";,".utf8.contains($0) }
            rest = rest[value.endIndex...]
            return (lowercased, String(decoding: value, as: UTF8.self))
        }
        rest.removeFirst()
        return takeQuoted(&rest).map { (lowercased, $0) }
    }

    /// Takes a quoted string behind its first quote (RFC 9110, section 5.6.4).
    private static func takeQuoted(_ rest: inout Substring.UTF8View) -> String? {
        var value: [UInt8] = []
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\"") { return String(decoding: value, as: UTF8.self) }
            guard byte == UInt8(ascii: "\\") else {
                value.append(byte)
                continue
            }
            guard let escaped = rest.popFirst() else { return nil }
            value.append(escaped)
        }
        return nil
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}

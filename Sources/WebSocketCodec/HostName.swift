/// What may stand as the host of an address: a name, an IPv4 address, or an IPv6 address in brackets.
///
/// Stricter than RFC 3986, section 3.2.2: what a resolver would refuse, or read in a way that nobody meant (`127.1`,
/// `0x7f.0.0.1`), is refused when the configuration is read.
enum HostName {
    /// The longest name in the domain name system, in text form.
    static let longest = 253

    /// Returns the four bytes of a dotted IPv4 address.
    static func ipv4(_ text: Substring) -> [UInt8]? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let bytes = parts.compactMap { part -> UInt8? in
            guard part.utf8.allSatisfy(\.isDigit), !(part.count > 1 && part.first == "0") else { return nil }
            return UInt8(part)
        }
        return parts.count == 4 && bytes.count == 4 ? bytes : nil
    }

    /// Returns the eight groups of an IPv6 address: RFC 4291, section 2.2, without a zone.
    static func ipv6(_ text: Substring) -> [UInt16]? {
        let halves = text.split(separator: "::", omittingEmptySubsequences: false)
        guard halves.count <= 2 else { return nil }
        guard halves.count == 2 else { return groups(text, allowsIPv4: true).flatMap { $0.count == 8 ? $0 : nil } }
        guard let front = groups(halves[0], allowsIPv4: false), let back = groups(halves[1], allowsIPv4: true) else {
            return nil
        }
        let zeros = 8 - front.count - back.count
        return zeros >= 1 ? front + [UInt16](repeating: 0, count: zeros) + back : nil
    }

    private static func groups(_ text: Substring, allowsIPv4: Bool) -> [UInt16]? {
        guard !text.isEmpty else { return [] }
        var groups: [UInt16] = []
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            if allowsIPv4, index == parts.count - 1, part.contains("."), let bytes = ipv4(part) {
                groups += [UInt16(bytes[0]) << 8 | UInt16(bytes[1]), UInt16(bytes[2]) << 8 | UInt16(bytes[3])]
            } else {
                guard (1...4).contains(part.utf8.count), part.utf8.allSatisfy({ $0.hexValue != nil }),
                    let group = UInt16(part, radix: 16)
                else { return nil }
                groups.append(group)
            }
        }
        return groups
    }

    /// Returns what is wrong with a name or an IPv4 address, or nil.
    static func problem(with host: Substring) -> String? {
        let name = host.hasSuffix(".") ? host.dropLast() : host
        guard !name.isEmpty else { return "the host is missing" }
        guard name.utf8.count <= longest else { return "the host is longer than \(longest) characters" }
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        for label in labels {
            guard (1...63).contains(label.utf8.count),
                label.utf8.allSatisfy({ $0.isLetter || $0.isDigit || $0 == 0x2D || $0 == 0x5F })
            else { return "the host is no name: letters, digits, \"-\" and \"_\", with dots between" }
        }
        // A name whose last label is a number is read as an address (0x7f.1 and 127.1 are both 127.0.0.1).
        let isNumeric = labels.last.map { $0.utf8.allSatisfy(\.isDigit) || $0.lowercased().hasPrefix("0x") } ?? false
        if isNumeric, ipv4(host) == nil { return "the host is no IPv4 address of four numbers" }
        return nil
    }
}

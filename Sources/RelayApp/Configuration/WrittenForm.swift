internal import GLibRuntime
internal import RelayCore

extension ConfigurationNode {
    /// A fingerprint of the value as it is written, whatever its place, blanks, comments and the order of its members.
    ///
    /// A hash, so that nothing of what the file holds is kept. Keys in `ignored` do not count at the top.
    func fingerprint(ignoring ignored: Set<String> = []) -> [UInt8] {
        var bytes: [UInt8] = []
        append(to: &bytes, ignoring: ignored)
        return Checksum.sha256(bytes)
    }

    private func append(to bytes: inout [UInt8], ignoring ignored: Set<String>) {
        switch value {
        case .null: bytes.append(contentsOf: "null".utf8)
        case .bool(let flag): bytes.append(contentsOf: (flag ? "true" : "false").utf8)
        case .number(let text): bytes.append(contentsOf: text.utf8)
        case .string(let text): Self.append(text, to: &bytes)
        case .array(let nodes):
            bytes.append(UInt8(ascii: "["))
            for node in nodes {
                node.append(to: &bytes, ignoring: [])
                bytes.append(UInt8(ascii: ","))
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            let counted = members.filter { !ObjectReader.isFree($0.key) && !ignored.contains($0.key) }
            bytes.append(UInt8(ascii: "{"))
            for member in counted.sorted(by: { $0.key < $1.key }) {
                Self.append(member.key, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                member.value.append(to: &bytes, ignoring: [])
                bytes.append(UInt8(ascii: ","))
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    private static func append(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        JSONText.append(text, to: &bytes)
        bytes.append(UInt8(ascii: "\""))
    }
}

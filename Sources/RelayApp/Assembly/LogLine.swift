internal import RelayCore

/// Writes log entries as lines: `time=2030-01-02T03:04:05.123Z level=warning room=stream msg=text key=value`, or JSON.
///
/// Everything that might come from the network passes `quote`, so that a line stays one line and a terminal stays
/// what it was.
struct LogLine {
    /// How a line looks.
    var format: Log.Format

    /// The longest message and the longest value that are shown, in characters (Unicode scalars): a message is ours and
    /// may name a path.
    private static let (longestMessage, longestValue) = (1000, 200)

    /// Returns the line of an entry, with its newline.
    func bytes(of entry: Log.Entry, at now: Instant) -> [UInt8] {
        var line: [UInt8] = []
        line.reserveCapacity(256)
        switch format {
        case .logfmt: appendLogfmt(entry, at: now, to: &line)
        case .json: appendJSON(entry, at: now, to: &line)
        }
        line.append(UInt8(ascii: "\n"))
        return line
    }

    private func appendLogfmt(_ entry: Log.Entry, at now: Instant, to line: inout [UInt8]) {
        line.append(contentsOf: "time=".utf8)
        TimestampText.append(now, to: &line)
        for (name, value) in members(of: entry) {
            line.append(contentsOf: " \(name)=".utf8)
            if value.utf8.allSatisfy(Self.isPlain), !value.isEmpty {
                line.append(contentsOf: value.utf8)
            } else {
                line.append(UInt8(ascii: "\""))
                JSONText.append(value, to: &line)
                line.append(UInt8(ascii: "\""))
            }
        }
    }

    private func appendJSON(_ entry: Log.Entry, at now: Instant, to line: inout [UInt8]) {
        line.append(contentsOf: "{\"time\":\"".utf8)
        TimestampText.append(now, to: &line)
        line.append(UInt8(ascii: "\""))
        for (name, value) in members(of: entry) {
            line.append(contentsOf: ",\"\(name)\":\"".utf8)
            JSONText.append(value, to: &line)
            line.append(UInt8(ascii: "\""))
        }
        line.append(UInt8(ascii: "}"))
    }

    /// What the line says, each text cut to its longest.
    private func members(of entry: Log.Entry) -> [(name: String, value: String)] {
        [
            ("level", entry.level.rawValue), ("room", entry.room),
            ("msg", Self.cut(entry.message, to: Self.longestMessage)),
        ] + entry.fields.map { ($0.name, Self.cut($0.value, to: Self.longestValue)) }
    }

    private static func cut(_ text: String, to limit: Int) -> String {
        let scalars = text.unicodeScalars
        guard let end = scalars.index(scalars.startIndex, offsetBy: limit, limitedBy: scalars.endIndex),
            end < scalars.endIndex
        else { return text }
        return String(scalars[..<end]) + "…"
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "="), UInt8(ascii: "\\"): false
        default: byte > 0x20 && byte < 0x7F
        }
    }
}

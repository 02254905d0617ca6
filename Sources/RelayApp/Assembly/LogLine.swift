internal import RelayCore

/// Writes log entries as lines: `2030-01-02T03:04:05.123Z warning stream: message key=value`.
///
/// Everything that might come from the network passes `quote`, so that a line stays one line and a terminal stays
/// what it was.
struct LogLine {
    /// How a line looks.
    var format: Log.Format

    /// The longest value that is shown, in bytes.
    private static let longestValue = 300

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
        for (name, value) in [("level", entry.level.rawValue), ("room", entry.room), ("msg", entry.message)] + entry.fields {
            line.append(contentsOf: " \(name)=".utf8)
            if Self.isPlain(value) {
                line.append(contentsOf: value.utf8)
            } else {
                line.append(UInt8(ascii: "\""))
                JSONText.append(Self.cut(value), to: &line)
                line.append(UInt8(ascii: "\""))
            }
        }
    }

    private func appendJSON(_ entry: Log.Entry, at now: Instant, to line: inout [UInt8]) {
        line.append(contentsOf: "{\"time\":\"".utf8)
        TimestampText.append(now, to: &line)
        line.append(UInt8(ascii: "\""))
        for (name, value) in [("level", entry.level.rawValue), ("room", entry.room), ("msg", entry.message)] + entry.fields {
            line.append(contentsOf: ",\"\(name)\":\"".utf8)
            JSONText.append(Self.cut(value), to: &line)
            line.append(UInt8(ascii: "\""))
        }
        line.append(UInt8(ascii: "}"))
    }

    private static func isPlain(_ value: String) -> Bool {
        !value.isEmpty && value.utf8.count <= longestValue
            && value.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: "\\") }
    }

    private static func cut(_ value: String) -> [UInt8] {
        guard value.utf8.count > longestValue else { return Array(value.utf8) }
        return Array((String(value.unicodeScalars.prefix(longestValue / 2)) + "…").utf8)
    }
}

internal import Glibc

/// The system's table of zones: `$TZDIR`, else `/usr/share/zoneinfo`, where GLib looks too.
package enum ZoneTable {
    /// What is known of a name.
    package enum Entry: Sendable {
        case zone(Zone)
        /// There is no such zone; the names are those that there are.
        case unknown(names: [String])
        /// There is no table at all.
        case noTable
    }

    /// Where the system keeps the table.
    package static var systemFolder: String {
        getenv("TZDIR").map { String(cString: $0) } ?? "/usr/share/zoneinfo"
    }

    /// Looks up an IANA name such as `Europe/Berlin`, as it is written in the table.
    ///
    /// What else GLib takes for a zone, such as `+02:00` or a path, is none here. `UTC` needs no table.
    package static func look(up name: String, in folder: String = systemFolder) -> Entry {
        if name == "UTC" || (isName(name) && isZone(folder + "/" + name)), let zone = Zone(named: name) {
            return .zone(zone)
        }
        let names = self.names(in: folder)
        return names.isEmpty ? .noTable : .unknown(names: names)
    }

    /// Returns all names, sorted; empty if there is no table.
    package static func names(in folder: String = systemFolder) -> [String] {
        var names: [String] = []
        collect(folder, prefix: "", depth: 0, &names)
        return names.sorted()
    }

    /// The deepest names are like `America/Argentina/Ushuaia`.
    private static let deepest = 3
    /// Five times what the table of 2026 has.
    private static let mostNames = 3000

    private static func collect(_ folder: String, prefix: String, depth: Int, _ names: inout [String]) {
        guard depth < deepest, let directory = opendir(folder) else { return }
        defer { closedir(directory) }
        while let entry = readdir(directory), names.count < mostNames {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            // `posix` and `right` hold the same names again.
            guard isName(name), !["posix", "right"].contains(name) else { continue }
            let path = folder + "/" + name
            if isZone(path) {
                names.append(prefix + name)
            } else {
                collect(path, prefix: prefix + name + "/", depth: depth + 1, &names)
            }
        }
    }

    /// Whether a text looks like a name of the table: words of letters, digits, `_`, `+` and `-`, that begin with a
    /// capital, with `/` between them.
    private static func isName(_ text: String) -> Bool {
        guard text.utf8.count <= 64 else { return false }
        return text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).allSatisfy { word in
            guard let first = word.first, (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(first) else { return false }
            return word.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "+"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
        }
    }

    /// Whether a file holds a zone: it begins with `TZif` (RFC 8536, section 3.1).
    static func isZone(_ path: String) -> Bool {
        guard let file = fopen(path, "re") else { return false }
        defer { fclose(file) }
        var start = [UInt8](repeating: 0, count: 4)
        return fread(&start, 1, 4, file) == 4 && start.elementsEqual("TZif".utf8)
    }
}

internal import CGLib
internal import Glibc

/// Which zone the system's is: the one that `TZ` names, else the one that `/etc/localtime` is a link to.
package enum SystemZone {
    /// Why the system's zone is not known: GLib would take UTC without a word.
    package struct Fault: Error, Equatable {
        /// Who names the zone: `TZ` or `/etc/localtime`.
        package var source: String
        /// What it names.
        package var name: String
        /// Where the table is.
        package var table: String
        /// Whether there is any table.
        package var hasTable: Bool
    }

    /// Where the system says which zone it is in.
    package static let link = "/etc/localtime"

    /// Looks whether there is a zone where the system's zone should be; nil if all is well.
    ///
    /// Without `TZ` and without `/etc/localtime` the system's zone is UTC, and so it is with an empty `TZ`.
    package static func fault(
        variable: String? = getenv("TZ").map { String(cString: $0) }, link: String = link,
        table: String = ZoneTable.systemFolder
    ) -> Fault? {
        if let variable {
            let name = variable.hasPrefix(":") ? String(variable.dropFirst()) : variable
            return isKnown(name, table) ? nil : fault("TZ", name, table)
        }
        // What a link leads to says more than the link.
        let path = realpath(link, nil)
        defer { free(path) }
        if let path { return ZoneTable.isZone(String(cString: path)) ? nil : fault(link, String(cString: path), table) }
        let target = LinkedPath.places(of: link).last ?? link
        return target == link ? nil : fault(link, target, table)
    }

    private static func fault(_ source: String, _ name: String, _ table: String) -> Fault {
        Fault(source: source, name: name, table: table, hasTable: !ZoneTable.names(in: table).isEmpty)
    }

    private static func isKnown(_ name: String, _ table: String) -> Bool {
        if name.isEmpty || name == "UTC" { return true }
        if ZoneTable.isZone(name.hasPrefix("/") ? name : "\(table)/\(name)") { return true }
        // What else it may be: an offset, or a rule such as `CET-1CEST` (POSIX.1-2017, section 8.3); both have digits.
        guard name.utf8.contains(where: (UInt8(ascii: "0")...UInt8(ascii: "9")).contains),
            let zone = g_time_zone_new_identifier(name)
        else { return false }
        g_time_zone_unref(zone)
        return true
    }
}

extension SystemZone.Fault: CustomStringConvertible {
    package var description: String {
        let why = hasTable ? "which is no zone of the table in \(table)" : "and this system has no zone table"
        let remedy = hasTable ? "" : "; install tzdata"
        return "\(source) names \"\(name)\", \(why)\(remedy)"
    }
}

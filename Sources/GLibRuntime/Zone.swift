internal import CGLib

/// A time zone of the system's zone table.
///
/// Times are whole seconds since 1970-01-01T00:00:00Z; a *local* time is such a number as if the zone had no offset. The
/// C type is `GTimeZone`, which never changes once it is made.
package final class Zone: Sendable {
    /// The name as it was given; empty for the system's zone.
    package let name: String

    // A GTimeZone is immutable and its references are counted atomically.
    private nonisolated(unsafe) let zone: OpaquePointer

    /// Opens the zone with an IANA name such as `Europe/Berlin`; nil if the system's zone table has none of that name.
    ///
    /// The C function is `g_time_zone_new_identifier`, which would also take offsets, rules such as `CET-1CEST`, and
    /// paths of files.
    package init?(named name: String) {
        guard Self.isInTable(name), let zone = g_time_zone_new_identifier(name) else { return nil }
        self.name = name
        self.zone = zone
    }

    /// Opens the system's zone, which `TZ` or `/etc/localtime` names (`g_time_zone_new_local`).
    package init() {
        name = ""
        zone = g_time_zone_new_local()
    }

    /// The name by which GLib knows the zone: for the system's it says which one that is (`g_time_zone_get_identifier`).
    package var identifier: String {
        g_time_zone_get_identifier(zone).map { String(cString: $0) } ?? name
    }

    deinit {
        g_time_zone_unref(zone)
    }

    /// Whether `name` can be the name of a zone, and the zone table has a file for it.
    private static func isInTable(_ name: String) -> Bool {
        guard let first = name.utf8.first, isLetter(first), name.utf8.allSatisfy(isPartOfName) else { return false }
        if name == "UTC" { return true }
        let folder = g_getenv("TZDIR").map { String(cString: $0) } ?? "/usr/share/zoneinfo"
        return g_file_test("\(folder)/\(name)", G_FILE_TEST_IS_REGULAR) != 0
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    private static func isPartOfName(_ byte: UInt8) -> Bool {
        isLetter(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "_+-/".utf8.contains(byte)
    }

    /// Returns what local time is ahead of UTC at a time, in seconds.
    package func offset(at seconds: Int64) -> Int64 {
        let interval = g_time_zone_find_interval(zone, G_TIME_TYPE_UNIVERSAL, gint64(seconds))
        return Int64(g_time_zone_get_offset(zone, interval))
    }

    /// Returns the time at which local time is `local`.
    ///
    /// Of two such times it is the first. A local time that a gap leaves out moves forward by the gap.
    package func time(ofLocal local: Int64) -> Int64 {
        let day: Int64 = 86_400
        let (before, after) = (offset(at: local - day), offset(at: local + day))
        for offset in [max(before, after), min(before, after)] where self.offset(at: local - offset) == offset {
            return local - offset
        }
        return local - before
    }
}

extension Zone: Equatable {
    /// Whether both are the zone of one name.
    package static func == (left: Zone, right: Zone) -> Bool { left.name == right.name }
}

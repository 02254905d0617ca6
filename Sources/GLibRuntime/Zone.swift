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

    /// Opens the zone with an IANA name such as `Europe/Berlin`; nil if there is none.
    ///
    /// The C function is `g_time_zone_new_identifier`.
    package init?(named name: String) {
        guard !name.isEmpty, let zone = g_time_zone_new_identifier(name) else { return nil }
        self.name = name
        self.zone = zone
    }

    /// Opens the system's zone, which `TZ` or `/etc/localtime` names (`g_time_zone_new_local`).
    package init() {
        name = ""
        zone = g_time_zone_new_local()
    }

    deinit {
        g_time_zone_unref(zone)
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

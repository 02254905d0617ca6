internal import CGLib

/// Times in the system's zone, or in another one.
package enum LocalTime {
    /// Returns the time of day as `HH:MM`, or `--:--` outside of the years 1 to 9999; without `zone` the system's.
    package static func hourAndMinute(ofMilliseconds milliseconds: Int64, in zone: Zone? = nil) -> String {
        text(ofMilliseconds: milliseconds, zone, format: "%H:%M") ?? "--:--"
    }

    /// Returns the date and the time of day as `YYYY-MM-DD HH:MM`, or dashes outside of the years 1 to 9999; without
    /// `zone` the system's.
    package static func dateAndMinute(ofMilliseconds milliseconds: Int64, in zone: Zone? = nil) -> String {
        text(ofMilliseconds: milliseconds, zone, format: "%Y-%m-%d %H:%M") ?? "---------- --:--"
    }

    /// The C functions are g_date_time_new_from_unix_local, which reads `TZ` and the zone table,
    /// g_date_time_new_from_unix_utc and g_date_time_format.
    private static func text(ofMilliseconds milliseconds: Int64, _ zone: Zone?, format: String) -> String? {
        let seconds = milliseconds >= 0 ? milliseconds / 1000 : (milliseconds / 1000) - 1
        guard let time = self.time(seconds, zone) else { return nil }
        defer { g_date_time_unref(time) }
        guard let text = g_date_time_format(time, format) else { return nil }
        defer { g_free(text) }
        return String(cString: text)
    }

    private static func time(_ seconds: Int64, _ zone: Zone?) -> OpaquePointer? {
        guard let zone else { return g_date_time_new_from_unix_local(gint64(seconds)) }
        let (local, overflow) = seconds.addingReportingOverflow(zone.offset(at: seconds))
        return overflow ? nil : g_date_time_new_from_unix_utc(gint64(local))
    }
}

internal import CGLib

/// Times in the system's zone.
package enum LocalTime {
    /// Returns the time of day as `HH:MM`, or `--:--` outside of the years 1 to 9999.
    package static func hourAndMinute(ofMilliseconds milliseconds: Int64) -> String {
        text(ofMilliseconds: milliseconds, format: "%H:%M") ?? "--:--"
    }

    /// Returns the date and the time of day as `YYYY-MM-DD HH:MM`, or dashes outside of the years 1 to 9999.
    package static func dateAndMinute(ofMilliseconds milliseconds: Int64) -> String {
        text(ofMilliseconds: milliseconds, format: "%Y-%m-%d %H:%M") ?? "---------- --:--"
    }

    /// The C functions are g_date_time_new_from_unix_local, which reads `TZ` and the zone table, and
    /// g_date_time_format.
    private static func text(ofMilliseconds milliseconds: Int64, format: String) -> String? {
        let seconds = milliseconds >= 0 ? milliseconds / 1000 : (milliseconds / 1000) - 1
        guard let time = g_date_time_new_from_unix_local(gint64(seconds)) else { return nil }
        defer { g_date_time_unref(time) }
        guard let text = g_date_time_format(time, format) else { return nil }
        defer { g_free(text) }
        return String(cString: text)
    }
}

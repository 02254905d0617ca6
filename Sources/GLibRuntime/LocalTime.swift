internal import CGLib

/// Times of day in the system's zone.
package enum LocalTime {
    /// Returns the time of day as `HH:MM`, or `--:--` outside of the years 1 to 9999.
    ///
    /// The C function is g_date_time_new_from_unix_local, which reads `TZ` and the zone table.
    package static func hourAndMinute(ofMilliseconds milliseconds: Int64) -> String {
        let seconds = milliseconds >= 0 ? milliseconds / 1000 : (milliseconds / 1000) - 1
        guard let time = g_date_time_new_from_unix_local(gint64(seconds)) else { return "--:--" }
        defer { g_date_time_unref(time) }
        func twoDigits(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(twoDigits(g_date_time_get_hour(time))):\(twoDigits(g_date_time_get_minute(time)))"
    }
}

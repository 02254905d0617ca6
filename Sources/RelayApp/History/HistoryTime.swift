internal import RelayCore

/// The times that bound what is looked for in the history.
enum HistoryTime {
    /// Returns the instant that an option names: a duration back from now, or a time.
    ///
    /// - Throws: `CommandFault` (64) if it is neither.
    static func instant(
        _ arguments: ParsedArguments, _ option: String, now: Instant, _ times: ZonedTime
    ) throws(CommandFault) -> Instant? {
        guard let text = arguments.options[option] else { return nil }
        if let duration = DurationText.parse(text) { return now + (.zero - duration) }
        if let instant = times.instant(text) { return instant }
        throw CommandFault(
            .usage,
            Shown.printable(
                "--\(option) is how long ago, such as 90s, 15m, 1h30m or 7d, or a time like \(ZonedTime.forms), not "
                    + Shown.quoted(text)))
    }
}

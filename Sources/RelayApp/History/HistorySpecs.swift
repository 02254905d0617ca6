/// The commands that read the history.
extension Commands {
    private static let noState = OptionSpec(name: "no-state", value: nil, help: "There is no state to look into")

    static let history = CommandSpec(
        name: "history", summary: "List the events that were recorded, and what became of each.", operand: "list",
        options: [
            OptionSpec(name: "since", value: "TIME", help: "Received so long ago at most, or at this time or later"),
            OptionSpec(name: "until", value: "TIME", help: "Received longer ago, or before this time"),
            OptionSpec(name: "kind", value: "K", help: "Events of this kind"),
            OptionSpec(name: "actor", value: "A", help: "Events by this actor"),
            OptionSpec(name: "stream", value: "NAME", help: "Events of this stream"),
            OptionSpec(name: "rule", value: "R", help: "With an effect of this rule"),
            OptionSpec(name: "sink", value: "S", help: "With an effect for this sink"),
            OptionSpec(name: "outcome", value: "O", help: "With an effect that came to this (see below)"),
            OptionSpec(name: "limit", value: "N", help: "At most so many (default: 100)"),
            OptionSpec(name: "json", value: nil, help: "Print JSON, one event a line"),
            state, noState,
        ],
        notes: """
            The newest come first:

              chirp-relay history list --since 2h --kind like
              chirp-relay history list --sink team --outcome dead --since 2026-03-28

            TIME is a duration back from now, such as 90s, 15m, 1h30m or 7d, or a time: RFC 3339,
            or local such as 2026-03-29T02:30. All that is given must hold, --rule, --sink and
            --outcome for one effect. An outcome is delivered, pending, dead, suppressed, passed
            (to standard output, without the journal) or forgotten.

            What is recorded, and for how long, is the key "history" of the rules file. `explain
            EVENT-ID` tells all of one event. The journal is read in the state directory, that of
            `run`, also beside a running relay.
            Exit status: 0 done, 1 there is no journal, 64 wrong usage.
            """)

    static let replay = CommandSpec(
        name: "replay", summary: "Run the recorded events through other rules, and compare what each sink got.",
        operand: nil,
        options: [
            OptionSpec(name: "rules", value: "FILE", help: "The other rules; - is standard input"),
            OptionSpec(name: "since", value: "TIME", help: "Only events received so long ago at most, or since"),
            OptionSpec(name: "json", value: nil, help: "Print JSON, one line a rule and sink"),
            state, noState,
        ],
        notes: """
            For each sink and rule: how many deliveries the recorded events led to, and how many
            they would lead to by the rules in FILE. Nothing is sent and no secret is read:

              chirp-relay replay --since 7d --rules new.json

            The events pass in virtual time, each when it was received; after the last one time
            runs on until nothing is open. Events that the history does not hold are not compared;
            how many there were is told. TIME is a duration back from now, such as 90s, 15m or
            7d, or a time: RFC 3339, or local such as 2026-03-29T02:30.

            The journal is read in the state directory, that of `run`, also beside a running relay.
            Exit status: 0 done, 1 there is nothing to replay, 64 wrong usage, 78 wrong rules.
            """)
}

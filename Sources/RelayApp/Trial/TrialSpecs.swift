/// The commands that try rules.
extension Commands {
    static let test = CommandSpec(
        name: "test", summary: "Try the rules on events in virtual time: what would each sink get, when and why?",
        operand: "[EVENTS | -]",
        options: [
            rules,
            OptionSpec(name: "expect", value: "FILE", help: "Check the expectations in FILE instead of printing"),
            OptionSpec(name: "until", value: "TIME", help: "Let time run on to TIME after the last event"),
            OptionSpec(name: "sink", value: "NAME", help: "Show this sink only"),
            OptionSpec(name: "stream", value: "NAME", help: "The stream of events that name none"),
            OptionSpec(name: "json", value: nil, help: "Print JSON, one line a step"),
        ],
        notes: """
            EVENTS holds events as the server sends them: one a line, or one JSON array. They
            happen at their own times, and after the last one time runs on until nothing is
            open. Without EVENTS, or with `-`, they come from standard input. Nothing is sent
            and no secret is read.

            TIME is RFC 3339, or local such as 2026-03-29T02:30. With several streams in the
            rules file, an event says "stream": "NAME"; else it counts as one of the first.
            contrib/docs/testing-rules.md tells how to write expectations.
            Exit status: 0 done, 1 an event could not be used or an expectation fails.

            """ + whereRules)

    static let explain = CommandSpec(
        name: "explain", summary: "Show what became of an event, or what the rules make of one, and why.",
        operand: "[EVENT-ID | FILE | -]",
        options: [
            rules,
            OptionSpec(name: "kind", value: "KIND", help: "The kind of the event, instead of a FILE"),
            OptionSpec(name: "actor", value: "ACTOR", help: "Who did it"),
            OptionSpec(name: "post", value: "POST", help: "The post it is about"),
            OptionSpec(name: "text", value: "TEXT", help: "The text of a comment"),
            OptionSpec(
                name: "stream", value: "NAME", help: "The stream (default: the first of the file; of an id: all)"),
            OptionSpec(name: "at", value: "TIME", help: "When it happens (default: its own time, else now)"),
            OptionSpec(name: "json", value: nil, help: "Print JSON"),
            state, OptionSpec(name: "no-state", value: nil, help: "There is no state to look into"),
        ],
        notes: """
            EVENT-ID is an event that a relay received, as `history list` shows it. Its rules,
            what was held, and when and how each delivery went come from the history of the
            relay's state directory (that of `run`), also beside a running relay; then each rule
            as it is now, if there is a rules file. What is the name of a file is taken for one.

            FILE holds an event as the server sends it; `-` is standard input. An event given
            by --kind and its companions has the fields of the Chirp API.

            TIME is RFC 3339, or local such as 2026-03-29T02:30: a time that does not exist
            moves forward by the gap, of two the first is meant.
            Exit status: 0 done, 1 there is no such event, 64 wrong usage.

            """ + whereRules)
}

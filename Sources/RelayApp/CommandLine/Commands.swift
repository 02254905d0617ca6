/// The commands of the program, with what each takes.
enum Commands {
    static let rules = OptionSpec(name: "rules", value: "FILE", help: "The rules file (see below)")
    private static let logLevel = OptionSpec(
        name: "log-level", value: "LEVEL", help: "error, warning, info, debug or trace (default: info)")
    private static let logFormat = OptionSpec(
        name: "log-format", value: "FORMAT", help: "logfmt or json (default: logfmt)")
    static let state = OptionSpec(name: "state", value: "DIR", help: "Where the relay keeps its state")
    private static let noState = OptionSpec(name: "no-state", value: nil, help: "Keep nothing on disk")
    static let whereRules = """
        The rules file is --rules, else $CHIRP_RELAY_RULES, else
        $XDG_CONFIG_HOME/chirp-relay/rules.json (~/.config if unset), else
        /etc/chirp-relay/rules.json.
        """

    static let run = CommandSpec(
        name: "run", summary: "Hold the streams of the rules file and deliver by its rules, until SIGTERM or SIGINT.",
        operand: nil,
        options: [
            rules, state, noState, logLevel, logFormat,
        ],
        notes: whereRules + """


            The state directory is --state, else $STATE_DIRECTORY, else
            $XDG_STATE_HOME/chirp-relay (~/.local/state if unset). What is accepted is on disk
            there: after a crash it is delivered or accounted for.

            The rules file is read again when it changes and at SIGHUP; if it is wrong, the
            rules stay as they were. `--rules -` reads standard input, once. SIGTERM and SIGINT
            end the relay, after what is due was delivered; a second one ends it at once.
            Commands reach the relay in its state directory, or without one in
            $XDG_RUNTIME_DIR/chirp-relay. One relay at a time uses a state directory.
            """)

    static let check = CommandSpec(
        name: "check", summary: "Read a rules file and tell everything that is wrong with it.", operand: "[FILE]",
        options: [
            OptionSpec(name: "strict", value: nil, help: "Fail on warnings too"),
            OptionSpec(name: "json", value: nil, help: "Print the problems as JSON, one a line, on standard output"),
        ],
        notes: """
            Without FILE, the file that `run` would take; `-` is standard input.
            Exit status: 0 nothing wrong, 78 something is.
            """)

    static let silence = CommandSpec(
        name: "silence", summary: "Mute what matches until a time; list and end such silences.",
        operand: "add|list|remove [ID]", mostOperands: 2,
        options: [
            OptionSpec(name: "kind", value: "K", help: "add: events of this kind"),
            OptionSpec(name: "actor", value: "A", help: "add: events by this actor"),
            OptionSpec(name: "post", value: "P", help: "add: events about this post"),
            OptionSpec(name: "rule", value: "R", help: "add: what this rule decides"),
            OptionSpec(name: "sink", value: "S", help: "add: what goes to this sink"),
            OptionSpec(name: "stream", value: "NAME", help: "add: events of this stream"),
            OptionSpec(name: "for", value: "TIME", help: "add: how long, such as 90s, 15m, 1h30m or 2d"),
            OptionSpec(name: "until", value: "TIME", help: "add: until when (see below)"),
            OptionSpec(name: "json", value: nil, help: "list: print JSON, one silence a line"),
            OptionSpec(name: "all", value: nil, help: "remove: all of them"),
            rules, state,
            OptionSpec(name: "no-state", value: nil, help: "Ask the relay that keeps no state"),
        ],
        notes: """
            add needs at least one of the first six, all of which must hold, and an end:

              chirp-relay silence add --kind like --post 7 --for 2h
              chirp-relay silence add --actor ann --until tomorrow
              chirp-relay silence add --rule "likes, hourly" --until 2026-03-29T18:00

            A time without an offset, such as 2026-03-29T18:00 or 18:00, is in the system's zone;
            tomorrow is the next midnight. What is silenced is not delivered later. What sits in a
            digest or waits for its sink already still goes out.

            The relay is found in its state directory (the one that `run` takes), or in
            $XDG_RUNTIME_DIR/chirp-relay. If none runs, the journal in the state directory is
            changed, by the rules file.
            Exit status: 0 done, 1 there is neither, or it refused, 64 wrong usage.

            """ + whereRules)

    static let outbox = CommandSpec(
        name: "outbox", summary: "List, show, send again or drop what waits for its sinks, and what was given up.",
        operand: "list|show|retry|drop [ID]...", mostOperands: 1000,
        options: [
            OptionSpec(name: "sink", value: "S", help: "What is bound for this sink"),
            OptionSpec(name: "dead", value: nil, help: "list, drop: dead letters only"),
            OptionSpec(name: "pending", value: nil, help: "list, drop: what is not given up only"),
            OptionSpec(name: "older-than", value: "TIME", help: "Accepted so long ago, such as 90s, 15m or 2d"),
            OptionSpec(name: "all", value: nil, help: "retry, drop: everything"),
            OptionSpec(name: "to", value: "SINK", help: "retry: send it to this sink instead"),
            OptionSpec(name: "limit", value: "N", help: "list: at most so many (default: 100)"),
            OptionSpec(name: "json", value: nil, help: "list, show: print JSON, one delivery a line"),
            rules, state,
        ],
        notes: """
            retry sends dead letters again, and starts a sink that has stopped:

              chirp-relay outbox retry --sink team-chat
              chirp-relay outbox retry 17 18 --to log

            drop gives up what waits, and deletes the text of what was given up; the counters
            keep both. Several of ID, --sink, --older-than: all must hold.

            list and show read the journal, also beside a running relay. retry and drop ask the
            relay; if none runs they change the journal themselves, by the rules file (see
            below). The state directory is that of `run`.
            Exit status: 0 done, 1 there is no such journal or delivery, 64 wrong usage.

            """ + whereRules)

    static let demo = CommandSpec(
        name: "demo", summary: "Relay made-up events from a server of the demo's own, with the example rules.",
        operand: nil,
        options: [
            OptionSpec(name: "events", value: "N", help: "How many events (default: 30)"),
            OptionSpec(name: "rate", value: "R", help: "Events a second (default: 3)"),
            OptionSpec(name: "rules", value: "FILE", help: "Other rules than the example's"),
            OptionSpec(name: "url", value: "URL", help: "A real stream instead of the demo's server"),
            OptionSpec(name: "token-env", value: "NAME", help: "The environment variable with the real stream's token"),
            logLevel,
        ],
        notes: """
            The server listens on 127.0.0.1, demands a token, and drops the connection once,
            so that you see the relay dial again. Lines go to standard output; in a desktop
            session popups appear as well.
            """)

    static let schema = CommandSpec(
        name: "schema", summary: "Print the JSON Schema of the rules file, for editors that complete and check by it.",
        operand: nil, options: [],
        notes: """
            Save it beside the rules and name it there: "$schema": "rules.schema.json".
            """)

    static let all = [run, check, test, explain, replay, silence, outbox, history, schema, demo]

    /// Commands of the design that this version does not have.
    static let notYet = [
        "send", "status", "init",
    ]

    static let help = """
        Usage: chirp-relay COMMAND [OPTION]...

        Relays an authenticated realtime stream of notification events, by your rules, to
        desktop popups, webhooks and standard output.

        Commands:
        \(CommandSpec.table(all.map { ($0.name, $0.summary) }))

        `chirp-relay COMMAND --help` tells more of a command; `--version` tells the version.

        \(whereRules)
        """
}

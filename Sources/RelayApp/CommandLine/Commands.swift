/// The commands of the program, with what each takes.
enum Commands {
    static let rules = OptionSpec(name: "rules", value: "FILE", help: "The rules file (see below)")
    private static let logLevel = OptionSpec(
        name: "log-level", value: "LEVEL", help: "error, warning, info, debug or trace (default: info)")
    private static let logFormat = OptionSpec(
        name: "log-format", value: "FORMAT", help: "logfmt or json (default: logfmt)")
    static let whereRules = """
        The rules file is --rules, else $CHIRP_RELAY_RULES, else
        $XDG_CONFIG_HOME/chirp-relay/rules.json (~/.config if unset), else
        /etc/chirp-relay/rules.json.
        """

    static let run = CommandSpec(
        name: "run", summary: "Hold the streams of the rules file and deliver by its rules, until SIGTERM or SIGINT.",
        operand: nil,
        options: [
            rules,
            OptionSpec(name: "state", value: "DIR", help: "Where the relay keeps its state"),
            OptionSpec(name: "no-state", value: nil, help: "Keep nothing on disk"),
            logLevel, logFormat,
        ],
        notes: whereRules + """


            The state directory is --state, else $STATE_DIRECTORY, else
            $XDG_STATE_HOME/chirp-relay (~/.local/state if unset). This version makes the
            directory but keeps its journal in memory.
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

    static let all = [run, check, test, explain, demo]

    /// Commands of the design that this version does not have.
    static let notYet = [
        "replay", "send", "status", "silence", "outbox", "history", "init", "schema",
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

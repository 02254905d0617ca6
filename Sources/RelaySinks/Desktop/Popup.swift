#if Desktop
    internal import RelayCore

    /// What a notification daemon is given to show.
    struct Popup: Sendable, Equatable {
        /// One line, plain text: never markup.
        var summary: String
        /// At most six lines; markup if the daemon takes markup, else plain text.
        var body: String
        /// How much it presses.
        var urgency: Urgency
        /// The name or the path of an icon; nil for the daemon's choice.
        var icon: String?

        /// The most graphemes of the summary.
        static let longestSummary = 100
        /// The most graphemes of the body, before it is escaped.
        static let longestBody = 400
        private static let mostLines = 6
        /// More stacked marks make some daemons stand still for as long as the popup is shown.
        private static let mostMarks = 4

        /// Makes the popup of a notice for a daemon that announces `capabilities`.
        init(_ notice: Notice, capabilities: [String]) {
            summary = TextCut.graphemes(
                Self.visible(notice.title.string, keepsLines: false), max: Self.longestSummary, marks: Self.mostMarks)
            // A summary without any text is refused by some daemons.
            if summary.isEmpty { summary = notice.rule.isEmpty ? "chirp-relay" : notice.rule }
            let text = Self.text(of: notice)
            body = capabilities.contains("body-markup") ? Self.escaped(text) : text
            urgency = notice.urgency
            icon = notice.icon.isEmpty ? nil : notice.icon
        }

        /// The body as plain text: the notice's, how many were held back, and the link, which is never cut.
        private static func text(of notice: Notice) -> String {
            var tail: [String] = []
            // It is the last line of the body, which may be cut.
            if let line = notice.suppressedLine { tail.append(line) }
            let link = visible(notice.link.string, keepsLines: false)
            // A longer one would leave no room for the text. Daemons show `<a>` differently, some as raw tags, so
            // the link is text in any case.
            if !link.isEmpty, link.count <= longestBody / 2 { tail.append(link) }
            let room = longestBody - tail.reduce(0) { $0 + $1.count + 1 }
            let head = TextCut.graphemes(
                visible(notice.bodyBeforeSuppressed.string, keepsLines: true), max: room, lines: mostLines - tail.count,
                marks: mostMarks)
            return ((head.isEmpty ? [] : [head]) + tail).joined(separator: "\n")
        }

        /// The text without what cannot be seen: line ends become spaces unless they are kept, other controls go.
        private static func visible(_ text: String, keepsLines: Bool) -> String {
            var visible = ""
            for scalar in text.unicodeScalars {
                switch scalar {
                case "\n", "\u{2028}", "\u{2029}": visible.unicodeScalars.append(keepsLines ? "\n" : " ")
                case "\t": visible.unicodeScalars.append(" ")
                case _ where scalar.value < 0x20 || UInt16(exactly: scalar.value)?.isHiddenControl == true: continue
                default: visible.unicodeScalars.append(scalar)
                }
            }
            return visible
        }

        /// Escapes text for the markup of the Desktop Notifications Specification, chapter "Markup".
        private static func escaped(_ text: String) -> String {
            var escaped = ""
            for scalar in text.unicodeScalars {
                switch scalar {
                case "&": escaped += "&amp;"
                case "<": escaped += "&lt;"
                case ">": escaped += "&gt;"
                case "\"": escaped += "&quot;"
                case "'": escaped += "&#39;"
                default: escaped.unicodeScalars.append(scalar)
                }
            }
            return escaped
        }
    }
#endif

import RelayCore
import RelayTestKit
import Testing

/// Texts of rules files for tests.
enum Rules {
    /// One stream that needs a token, sinks and rules.
    static func text(
        _ url: String, stream: String = "", sinks: String, rules: String = #"{"name": "all", "to": ["out"]}"#
    ) -> String {
        """
        {
          "streams": {"chirp": {"url": "\(url)", "token": {"env": "CHIRP_TOKEN"},
            "redial": {"base": "100ms", "cap": "100ms"}\(stream)}},
          "sinks": {\(sinks)},
          "rules": [\(rules)]
        }
        """
    }

    /// A sink that prints JSON.
    static let stdout = #""out": {"type": "stdout"}"#

    /// The id of `event`.
    static func id(_ id: Int) -> String { "00000000-0000-4000-8000-\(digits(id))" }

    /// A chirp event as it comes over the wire.
    static func event(_ id: Int, kind: String = "like", more: String = "") -> String {
        #"{"id":"\#(Self.id(id))","kind":"\#(kind)","actorUsername":"ann","#
            + #""postID":"p1","createdAt":"2030-01-02T03:04:05Z"\#(more)}"#
    }

    /// The end of the id of `event`.
    static func digits(_ id: Int) -> String {
        let text = String(id)
        return String(repeating: "0", count: 12 - text.count) + text
    }
}

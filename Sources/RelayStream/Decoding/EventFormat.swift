package import RelayCore

/// Where a server puts the fields of its events: the `format` of a stream.
///
/// Pointers are relative to an item, those of `events` and `only` to an envelope: a whole document, or each element of
/// it if it is an array (unless all pointers begin with an array index, as in `/3`; then the array is one envelope).
package struct EventFormat: Sendable, Equatable {
    /// Lets only envelopes pass in which a pointer finds one of some values.
    package struct Filter: Sendable, Equatable {
        /// A value to find, of which numbers are compared as written.
        package enum Value: Sendable, Equatable {
            case string(String)
            case number(String)
            case bool(Bool)
            case null
        }

        /// Where to look.
        package var pointer: JSONPointer
        /// What may stand there.
        package var values: [Value]

        /// Creates a filter.
        package init(pointer: JSONPointer, values: [Value]) {
            self.pointer = pointer
            self.values = values
        }
    }

    /// Where the items of an envelope are: an array of them, or one.
    package var events: JSONPointer
    /// The id; nil for a server that sends none.
    package var id: JSONPointer?
    /// The kind; an item in which it finds nothing is no event.
    package var kind: JSONPointer
    /// Who did it.
    package var actor: JSONPointer?
    /// The post it is about.
    package var post: JSONPointer?
    /// When it happened.
    package var createdAt: JSONPointer?
    /// The text of a comment.
    package var text: JSONPointer?
    /// A link.
    package var link: JSONPointer?
    /// The server's names of kinds, and ours.
    package var kinds: [String: String] = [:]
    /// What envelopes must hold to be looked at.
    package var only: [Filter] = []

    /// Creates a format without renames and filters.
    package init(
        events: JSONPointer = .whole, id: JSONPointer? = nil, kind: JSONPointer, actor: JSONPointer? = nil,
        post: JSONPointer? = nil, createdAt: JSONPointer? = nil, text: JSONPointer? = nil, link: JSONPointer? = nil
    ) {
        self.events = events
        self.id = id
        self.kind = kind
        self.actor = actor
        self.post = post
        self.createdAt = createdAt
        self.text = text
        self.link = link
    }

    /// The format of the Chirp API.
    package static let chirp = EventFormat(
        id: JSONPointer(key: "id"), kind: JSONPointer(key: "kind"), actor: JSONPointer(key: "actorUsername"),
        post: JSONPointer(key: "postID"), createdAt: JSONPointer(key: "createdAt"), text: JSONPointer(key: "text"),
        link: JSONPointer(key: "link"))

    /// The formats that have a name.
    package static let ready = ["chirp": chirp]

    /// Whether the server sends ids; without them there is no dedupe and no catch-up.
    package var mapsID: Bool { id != nil }
}

/// What can be wrong with a message, an item or a field.
package enum DecodeFault: Int, Sendable, CaseIterable {
    // A message, which is lost.
    /// Nothing but white space.
    case emptyMessage
    /// Not UTF-8.
    case notUTF8
    /// Not JSON: not one document, and not one a line.
    case notJSON
    /// More than 64 levels of objects and arrays.
    case tooDeep
    /// Too large for the memory at hand.
    case noMemory

    // An item, which is lost; the others of its message are not.
    /// The format's `only` passed the envelope over. Meant so, and therefore no reason for a line in the log.
    case filtered
    /// The kind's pointer found nothing.
    case notAnEvent
    /// The same, of something that has a member `error` or `errors`: the server complains.
    case serverError
    /// The kind is no string.
    case badKind
    /// The id is neither a string nor a whole number.
    case badID
    /// There are more items in the message than are looked at.
    case tooManyItems

    // A field; the event is used.
    /// No id where the format has one: the relay gave one.
    case missingID
    /// No time that can be read where the format has one: the time of receipt is used.
    case unusableTime
    /// A value that is neither text nor a number: taken as absent.
    case wrongType
    /// A text that was cut to 64 KiB.
    case longText

    /// The sentence for the log.
    package var sentence: String {
        switch self {
        case .emptyMessage: "an empty message was ignored"
        case .notUTF8: "a message that is not UTF-8 was ignored"
        case .notJSON: "a message that is not JSON was ignored"
        case .tooDeep: "a message nested over 64 levels deep was ignored"
        case .noMemory: "a message was ignored for lack of memory"
        case .filtered: "a message that \"only\" excludes was passed over"
        case .notAnEvent: "something without a kind came and was passed over; it is no event"
        case .serverError: "the server sent an error"
        case .badKind: "an event whose kind is no string was ignored"
        case .badID: "an event whose id is neither text nor a whole number was ignored"
        case .tooManyItems: "a message has too many events; the rest of them was ignored"
        case .missingID: "an event came without id and was given one"
        case .unusableTime: "an event came without a readable time; the time of receipt is used"
        case .wrongType: "a field that is neither text nor a number was taken as absent"
        case .longText: "a text over 64 KiB was cut"
        }
    }
}

/// What one message gave.
package struct DecodeOutcome: Sendable {
    /// A fault to log.
    package struct Report: Sendable {
        /// What is wrong.
        package var fault: DecodeFault
        /// The start of what it is wrong with: at most 200 characters, none of which can move a cursor.
        package var excerpt: String
    }

    /// The number of events that were appended.
    package var events = 0
    /// The faults to log, mostly none: of each kind the decoder's first, of server errors each message's first.
    package var reports: [Report] = []
}

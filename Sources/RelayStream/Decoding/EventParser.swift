internal import CSimdjson
internal import RelayCore

/// Owns the C++ parser, prepared with the pointers of a format.
///
/// The one owner hands it on as a whole and never shares it, and the C++ side keeps no state outside of it, so it may
/// move between threads.
struct EventParser: ~Copyable, @unchecked Sendable {
    private let parser: OpaquePointer?

    /// Prepares a parser that hands out at most `limit` items a message.
    init(format: EventFormat, limit: Int) {
        parser = relay_json_new(limit)
        guard let parser else { return }
        format.events.withPointer { _ = relay_json_set_items(parser, $0, $1) }
        let fields: [(relay_json_field, JSONPointer?)] = [
            (RELAY_JSON_FIELD_ID, format.id), (RELAY_JSON_FIELD_KIND, format.kind),
            (RELAY_JSON_FIELD_ACTOR, format.actor), (RELAY_JSON_FIELD_POST, format.post),
            (RELAY_JSON_FIELD_CREATED_AT, format.createdAt), (RELAY_JSON_FIELD_TEXT, format.text),
            (RELAY_JSON_FIELD_LINK, format.link), (RELAY_JSON_FIELD_ERROR, JSONPointer(key: "error")),
            (RELAY_JSON_FIELD_ERROR, JSONPointer(key: "errors")),
        ]
        for (field, pointer) in fields { pointer?.withPointer { _ = relay_json_add_field(parser, field, $0, $1) } }
        for filter in format.only {
            filter.pointer.withPointer { _ = relay_json_add_filter(parser, $0, $1) }
            for value in filter.values { Self.add(value, to: parser) }
        }
    }

    deinit {
        relay_json_free(parser)
    }

    /// Parses a message; the items of the result are valid until the next call.
    func parse(_ message: UnsafeRawBufferPointer) -> (relay_json_status, relay_json_result) {
        var result = relay_json_result()
        guard let parser else { return (RELAY_JSON_NO_MEMORY, result) }
        guard let start = message.baseAddress else { return (RELAY_JSON_EMPTY, result) }
        let status = relay_json_parse(parser, start.assumingMemoryBound(to: UInt8.self), message.count, &result)
        return (status, result)
    }

    /// Returns what is wrong with a message as a whole, or nil.
    func fault(in message: RawSpan) -> DecodeFault? {
        EventDecoder.fault(of: message.withUnsafeBytes { parse($0).0 })
    }

    /// Parses the first messages at `places`, at least one, in `bytes`; the items of the result, whose places count from
    /// the start of the first message, are valid until the next call.
    ///
    /// - Returns: how many messages these are, and whether the next one is to be parsed by itself.
    func parse(
        _ bytes: [UInt8], at places: ArraySlice<Range<Int>>
    ) -> (taken: Int, isStopped: Bool, result: relay_json_result) {
        var result = relay_json_result()
        var isStopped = true
        guard let parser else { return (0, true, result) }
        let taken = bytes.withUnsafeBufferPointer { bytes in
            places.withUnsafeBytes { places in
                // A range of integers is its two bounds.
                let first = places.baseAddress?.assumingMemoryBound(to: relay_json_place.self)
                let count = places.count / MemoryLayout<relay_json_place>.stride
                return relay_json_parse_all(parser, bytes.baseAddress, first, count, &result, &isStopped)
            }
        }
        return (taken, isStopped, result)
    }

    private static func add(_ value: EventFormat.Filter.Value, to parser: OpaquePointer) {
        func add(_ kind: relay_json_kind, _ text: String = "") {
            var text = text
            text.withUTF8 { bytes in
                bytes.withMemoryRebound(to: CChar.self) {
                    _ = relay_json_add_filter_value(parser, kind, $0.baseAddress, $0.count)
                }
            }
        }
        switch value {
        case .string(let text): add(RELAY_JSON_STRING, text)
        case .number(let text): add(RELAY_JSON_NUMBER, text)
        case .bool(let flag): add(flag ? RELAY_JSON_TRUE : RELAY_JSON_FALSE)
        case .null: add(RELAY_JSON_NULL)
        }
    }
}

extension JSONPointer {
    fileprivate func withPointer(_ body: (UnsafePointer<CChar>?, Int) -> Void) {
        var text = text
        text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { body($0.baseAddress, $0.count) }
        }
    }
}

internal import CCurl

/// The header fields of a request as libcurl's list, of which only what changed is made anew for the next request.
///
/// Nothing is sent that libcurl would add for forms and large bodies.
struct FieldList: ~Copyable {
    /// Why fields cannot be sent.
    enum Fault: Error, Equatable {
        /// A name that is no token.
        case name
        /// A value with characters that cannot be sent.
        case value(of: String)
        /// There is no memory for the list.
        case memory
    }

    /// The list, which belongs to this value; nil if it is empty.
    private(set) var first: UnsafeMutablePointer<curl_slist>?
    /// What the list begins with.
    private var headers: [(name: String, value: String)] = []

    /// Creates an empty list.
    init() {}

    deinit {
        relay_curl_slist_free_all(first)
    }

    /// Makes the list that of `headers`; after a fault it is empty.
    mutating func set(_ headers: [(name: String, value: String)]) throws(Fault) {
        do throws(Fault) {
            if first != nil, headers.elementsEqual(self.headers, by: { $0.name == $1.name }) {
                try change(to: headers)
            } else {
                try rebuild(headers)
            }
        } catch {
            clear()
            throw error
        }
        self.headers = headers
    }

    private mutating func clear() {
        relay_curl_slist_free_all(first)
        first = nil
        headers = []
    }

    private mutating func rebuild(_ headers: [(name: String, value: String)]) throws(Fault) {
        clear()
        var removed = ["Accept", "Expect", "Content-Type"]
        for (name, value) in headers {
            guard HTTPField.isName(name) else { throw .name }
            try append(Self.line(name, value))
            removed.removeAll { $0.lowercased() == name.lowercased() }
        }
        for name in removed { try append(name + ":") }
    }

    /// Replaces the lines whose values are others; the names are the same.
    private mutating func change(to headers: [(name: String, value: String)]) throws(Fault) {
        var place = first
        for index in headers.indices {
            guard let node = place else { return }
            place = node.pointee.next
            let (name, value) = headers[index]
            if value == self.headers[index].value { continue }
            guard let new = relay_curl_slist_append(nil, try Self.line(name, value)) else { throw .memory }
            swap(&node.pointee.data, &new.pointee.data)
            relay_curl_slist_free_all(new)
        }
    }

    private mutating func append(_ line: String) throws(Fault) {
        guard let longer = relay_curl_slist_append(first, line) else { throw .memory }
        first = longer
    }

    private static func line(_ name: String, _ value: String) throws(Fault) -> String {
        guard HTTPField.isValue(value) else { throw .value(of: name) }
        // Without a value libcurl would take the field away.
        return value.isEmpty ? name + ";" : name + ": " + value
    }
}

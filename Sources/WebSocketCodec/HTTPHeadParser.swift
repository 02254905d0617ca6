/// Cuts the head of an HTTP message from the bytes of a connection, however they are split: RFC 9112, section 2.
///
/// Strict, because an upgrade is spoken by programs that can: lines end in CR LF, no folded lines, no control
/// characters. What follows the head is kept for the frame decoder.
package struct HTTPHeadParser: Sendable {
    /// Which kind of message is awaited.
    package enum Kind: Sendable {
        case request, response
    }

    /// What came behind the head, once it is complete.
    package private(set) var rest: [UInt8] = []

    private let kind: Kind
    private let maxBytes: Int
    private let maxHeaders: Int
    private var bytes: [UInt8] = []
    private var isComplete = false

    /// Creates a parser for one head of at most `maxBytes` bytes and `maxHeaders` fields.
    package init(_ kind: Kind, maxBytes: Int = 16_384, maxHeaders: Int = 100) {
        self.kind = kind
        self.maxBytes = maxBytes
        self.maxHeaders = maxHeaders
    }

    /// Takes the next bytes, and returns the head when they complete it; all later bytes are added to `rest`.
    ///
    /// - Throws: `HandshakeFault.malformed` when the bytes are no HTTP head or pass a limit.
    package mutating func feed(_ input: some Collection<UInt8>) throws(HandshakeFault) -> HTTPHead? {
        if isComplete {
            rest.append(contentsOf: input)
            return nil
        }
        let known = bytes.count
        bytes.append(contentsOf: input)
        if kind == .response, !zip(bytes, "HTTP/".utf8).allSatisfy({ $0 == $1 }) {
            // Its first word tells what it is. An echo would go on with the target, which may hold a secret.
            let word = bytes.prefix { $0 > 0x20 }
            throw .malformed("the answer is not HTTP: \(SafeText.make(word.prefix(60)))")
        }
        guard let end = try endOfHead(from: known) else {
            guard bytes.count <= maxBytes else { throw .malformed("the head is longer than \(maxBytes) bytes") }
            return nil
        }
        guard end <= maxBytes else { throw .malformed("the head is longer than \(maxBytes) bytes") }
        isComplete = true
        rest = Array(bytes[end...])
        let head = bytes[..<(end - 4)]
        bytes = []
        return try parse(head)
    }

    /// Returns where the head ends, behind its empty line.
    private func endOfHead(from start: Int) throws(HandshakeFault) -> Int? {
        var index = start
        while index < bytes.count {
            if bytes[index] == 0x0A {
                guard index > 0, bytes[index - 1] == 0x0D else {
                    throw .malformed("a line of the head does not end in CR LF")
                }
                if index >= 3, bytes[index - 2] == 0x0A, bytes[index - 3] == 0x0D { return index + 1 }
            }
            index += 1
        }
        return nil
    }

    private func parse(_ head: ArraySlice<UInt8>) throws(HandshakeFault) -> HTTPHead {
        // Every LF has its CR, as the search for the end has seen.
        let lines = head.split(separator: 0x0A, omittingEmptySubsequences: false)
            .map { $0.last == 0x0D ? $0.dropLast() : $0 }
        guard lines.count - 1 <= maxHeaders else { throw .malformed("the head has more than \(maxHeaders) fields") }
        var headers: [HTTPHeader] = []
        for line in lines.dropFirst() { headers.append(try Self.header(line)) }
        let startLine = lines.first ?? []
        guard !startLine.contains(where: \.isControl) else { throw .malformed("control characters in the first line") }
        return HTTPHead(startLine: String(decoding: startLine, as: UTF8.self), headers: headers)
    }

    private static func header(_ line: ArraySlice<UInt8>) throws(HandshakeFault) -> HTTPHeader {
        guard let colon = line.firstIndex(of: 0x3A), colon > line.startIndex,
            line[..<colon].allSatisfy(\.isTokenCharacter)
        else { throw .malformed("a line of the head is no field") }
        let value = line[(colon + 1)...]
        guard !value.contains(where: { $0.isControl && $0 != 0x09 }) else {
            throw .malformed("control characters in a field of the head")
        }
        return HTTPHeader(
            name: String(decoding: line[..<colon], as: UTF8.self),
            value: String(decoding: value, as: UTF8.self).trimmedBlanks)
    }
}

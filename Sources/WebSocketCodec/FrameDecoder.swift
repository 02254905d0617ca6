/// Turns a peer's bytes into messages: RFC 6455, sections 5 to 8, without extensions.
///
/// It owns the receive buffer. The transport writes into it (`withWritableBytes`, `commit`), then `next()` is called
/// until it returns nil. A message that came in one frame is neither copied nor allocated for; the parts of a
/// fragmented one are moved together in place. Every limit is checked before memory is taken, and text is checked
/// as it arrives, so a fault is found at the first byte that makes one. After a fault or a close nothing more comes.
package struct FrameDecoder: Sendable {
    /// Which end of the connection decodes.
    package enum Role: Sendable {
        /// Reads what a server sent: unmasked frames.
        case client
        /// Reads what a client sent: masked frames.
        case server
    }

    /// What a peer said.
    package enum Message: Sendable, Equatable {
        /// A whole text message, checked to be UTF-8: where it lies, until the next call of `withWritableBytes`.
        case text(Range<Int>)
        /// A whole binary message: where it lies, until the next call of `withWritableBytes`.
        case binary(Range<Int>)
        /// A ping; its payload goes back in a pong.
        case ping([UInt8])
        /// A pong, asked for or not.
        case pong([UInt8])
        /// The last message: the peer closes, for a reason that may be empty. A frame without a code has nil.
        case close(code: UInt16?, reason: String)
    }

    /// The default limit of a message: the default of the configuration key `maxMessage`.
    package static let defaultMaxMessage = 1 << 20
    /// What no configuration raises the limit above, so that sizes can be added without overflow.
    package static let largestMaxMessage = 1 << 30
    /// How many bytes behind a message can be read, as simdjson wants them.
    package static let slack = ReceiveBuffer.slack
    /// How many bytes are read at once if the caller does not say.
    package static let chunk = ReceiveBuffer.chunk

    /// Which end of the connection this is.
    package let role: Role
    /// The most bytes of a message, over all its fragments.
    package let maxMessage: Int
    /// The most fragments of a message: one for every 16 bytes of its limit, so that empty ones cannot spin for ever.
    package var maxFragments: Int { max(65_536, maxMessage / 16) }
    /// Whether a fault or a close has ended the stream.
    package private(set) var isOver = false

    private var buffer: ReceiveBuffer
    /// What the unfinished message is; nil between messages.
    private var openOpcode: Opcode?
    private var fragments = 0
    private var utf8 = UTF8Validator()
    /// Whether the head of a data frame has been read and its payload has not.
    private var isInPayload = false
    private var isFinal = false
    private var missing = 0
    private var key: UInt32 = 0

    /// Creates a decoder that refuses messages of more than `maxMessage` bytes with 1009.
    package init(role: Role, maxMessage: Int = FrameDecoder.defaultMaxMessage) {
        self.role = role
        self.maxMessage = min(max(maxMessage, 0), Self.largestMaxMessage)
        buffer = ReceiveBuffer(largestMessage: self.maxMessage)
    }

    /// How many bytes of memory the buffer takes.
    package var capacity: Int { buffer.storage.count }

    /// Calls `body` with at least `minimum` bytes to write received bytes to; `commit` then says how many they were.
    ///
    /// Ranges of messages are valid no more.
    package mutating func withWritableBytes<Result, Failure: Error>(
        atLeast minimum: Int = FrameDecoder.chunk,
        _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try buffer.withRoom(atLeast: minimum, expected: missing, body)
    }

    /// Takes the first `count` bytes written by the last `withWritableBytes` as received; drops them when it is over.
    package mutating func commit(_ count: Int) {
        guard !isOver else { return }
        buffer.commit(count)
    }

    /// Takes a copy of `bytes` as received, such as what came with the head of the handshake.
    package mutating func append(_ bytes: some Collection<UInt8>) {
        guard !bytes.isEmpty else { return }
        withWritableBytes(atLeast: bytes.count) { $0.copyBytes(from: bytes) }
        commit(bytes.count)
    }

    /// Calls `body` with the bytes of a message, behind which `slack` more can be read (what they hold is no matter).
    package func withBytes<Result, Failure: Error>(
        of range: Range<Int>, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try buffer.storage.withUnsafeBufferPointer { bytes throws(Failure) in
            try body(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[range]))
        }
    }

    /// Calls `body` with the whole buffer, in which the ranges of messages lie.
    package func withBuffer(_ body: ([UInt8]) -> Void) {
        body(buffer.storage)
    }

    /// Returns a copy of the bytes of a message.
    package func bytes(of range: Range<Int>) -> [UInt8] {
        Array(buffer.storage[range])
    }

    /// Returns the next whole message, or nil if more bytes are needed or the stream is over.
    ///
    /// - Throws: `ProtocolFault` once, when the peer broke the protocol or a limit: close with its code.
    package mutating func next() throws(ProtocolFault) -> Message? {
        guard !isOver else { return nil }
        do throws(ProtocolFault) {
            return try advance()
        } catch {
            isOver = true
            throw error
        }
    }

    /// Appends where the next messages lie, as long as each came whole in one unmasked frame.
    ///
    /// It stops before anything else, be it a fault, which is for `next()`. A read brings hundreds of messages, and
    /// taking them one by one costs several calls and copies each. Between two of them there are only spaces then.
    package mutating func takeMessages(into places: inout [Range<Int>]) {
        guard !isOver, !isInPayload, openOpcode == nil, role == .client else { return }
        let first = buffer.head
        let known = places.count
        findMessages(into: &places)
        var end = first
        for place in places[known...] {
            buffer.blank(end..<place.lowerBound)
            end = place.upperBound
        }
        buffer.head = end
    }

    /// Appends where the messages lie that `takeMessages` takes.
    private func findMessages(into places: inout [Range<Int>]) {
        let bytes = buffer.storage.span.bytes
        let end = buffer.tail
        var head = buffer.head
        while let header = try? FrameHeader.read(bytes, from: head, to: end, isMasked: false) {
            let start = head + header.byteCount
            guard header.isFinal, header.opcode == .text || header.opcode == .binary,
                header.payloadCount <= min(maxMessage, end - start)
            else { break }
            let place = start..<(start + header.payloadCount)
            if header.opcode == .text, !UTF8Validator.isValid(bytes.extracting(place)) { break }
            places.append(place)
            head = place.upperBound
        }
    }

    private mutating func advance() throws(ProtocolFault) -> Message? {
        while true {
            if !isInPayload {
                guard
                    let header = try FrameHeader.read(
                        buffer.storage.span.bytes, from: buffer.head, to: buffer.tail, isMasked: role == .server)
                else { return nil }
                if header.opcode.isControl { return try takeControl(header) }
                if isWholeMessage(header) { return try takeMessage(header) }
                try begin(header)
            }
            try takePayload()
            guard missing == 0 else { return nil }
            isInPayload = false
            if isFinal { return try finishMessage() }
        }
    }

    /// Returns whether the frame is a message by itself, allowed and all here, as nearly every one is.
    private func isWholeMessage(_ header: FrameHeader) -> Bool {
        header.isFinal && header.opcode != .continuation && openOpcode == nil && header.payloadCount <= maxMessage
            && header.payloadCount <= buffer.tail - buffer.head - header.byteCount
    }

    private mutating func takeMessage(_ header: FrameHeader) throws(ProtocolFault) -> Message {
        buffer.head += header.byteCount
        let range = buffer.head..<(buffer.head + header.payloadCount)
        if header.key != 0 { buffer.unmask(header.payloadCount, key: header.key) }
        guard header.opcode == .text else {
            buffer.head = range.upperBound
            return .binary(range)
        }
        guard let validator = validator(after: header.payloadCount), validator.isComplete else {
            throw .notUTF8("text message")
        }
        buffer.head = range.upperBound
        return .text(range)
    }

    /// Begins a data frame, if its place and its announced length are allowed.
    private mutating func begin(_ header: FrameHeader) throws(ProtocolFault) {
        let payload = buffer.head + header.byteCount
        if header.opcode == .continuation {
            guard openOpcode != nil else { throw .violation("continuation of no message") }
            fragments += 1
            guard fragments <= maxFragments else { throw .tooManyFragments(limit: maxFragments) }
        } else {
            guard openOpcode == nil else { throw .violation("new message inside a fragmented one") }
            openOpcode = header.opcode
            fragments = 1
            buffer.kept = payload..<payload
        }
        guard header.payloadCount <= maxMessage - buffer.kept.count else {
            let (size, overflow) = header.payloadCount.addingReportingOverflow(buffer.kept.count)
            throw .tooBig(overflow ? .max : size, limit: maxMessage)
        }
        buffer.head = payload
        isInPayload = true
        isFinal = header.isFinal
        missing = header.payloadCount
        key = header.key
    }

    /// Takes what is there of the payload of the open frame.
    private mutating func takePayload() throws(ProtocolFault) {
        let count = min(missing, buffer.tail - buffer.head)
        guard count > 0 else { return }
        if key != 0 {
            buffer.unmask(count, key: key)
            key = Masking.key(key, after: count)
        }
        if openOpcode == .text {
            guard let validator = validator(after: count) else { throw .notUTF8("text message") }
            utf8 = validator
        }
        buffer.keep(count)
        missing -= count
    }

    /// Returns the state of validation after the next `count` unread bytes, or nil if they make the text invalid.
    private func validator(after count: Int) -> UTF8Validator? {
        var validator = utf8
        let text = buffer.storage.span.bytes.extracting(buffer.head..<(buffer.head + count))
        return validator.accept(text) ? validator : nil
    }

    private mutating func finishMessage() throws(ProtocolFault) -> Message {
        let range = buffer.kept
        let isText = openOpcode == .text
        guard !isText || utf8.isComplete else { throw .notUTF8("text message") }
        openOpcode = nil
        buffer.kept = buffer.head..<buffer.head
        return isText ? .text(range) : .binary(range)
    }

    /// Takes a control frame, or nothing if it is not all there: it has 125 bytes at most.
    private mutating func takeControl(_ header: FrameHeader) throws(ProtocolFault) -> Message? {
        let count = header.payloadCount
        guard buffer.tail - buffer.head >= header.byteCount + count else { return nil }
        buffer.head += header.byteCount
        if header.key != 0 { buffer.unmask(count, key: header.key) }
        let payload = bytes(of: buffer.head..<(buffer.head + count))
        buffer.head += count
        switch header.opcode {
        case .ping: return .ping(payload)
        case .pong: return .pong(payload)
        default: return try close(payload)
        }
    }

    private mutating func close(_ payload: [UInt8]) throws(ProtocolFault) -> Message {
        isOver = true
        guard !payload.isEmpty else { return .close(code: nil, reason: "") }
        guard payload.count >= 2 else { throw .violation("close frame with half a code") }
        let code = UInt16(payload[0]) << 8 | UInt16(payload[1])
        guard CloseCode.mayBeSent(code) else { throw .violation("close code \(code) is not allowed") }
        guard let reason = String(validating: payload[2...], as: UTF8.self) else { throw .notUTF8("close reason") }
        return .close(code: code, reason: reason)
    }
}

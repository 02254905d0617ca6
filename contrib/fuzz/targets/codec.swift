import WebSocketCodec

/// Reads the bytes of a connection: whole, and in random pieces.
///
/// The first byte chooses who reads what and under which limit, the second seeds the pieces.
@_cdecl("LLVMFuzzerTestOneInput")
func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = UnsafeBufferPointer(start: start, count: count)
    guard count >= 2 else { return -1 }
    let bytes = Array(input[2...])
    let pieces = Pieces(of: bytes, seed: UInt64(input[1]))
    switch input[0] & 3 {
    case 0: checkFrames(bytes, pieces, FrameDecoder(role: .client, maxMessage: limit(input[0])))
    case 1: checkFrames(bytes, pieces, FrameDecoder(role: .server, maxMessage: limit(input[0])))
    case 2: checkHead(bytes, pieces, .response, maxBytes: limit(input[0]))
    default: checkHead(bytes, pieces, .request, maxBytes: limit(input[0]))
    }
    return 0
}

private func limit(_ selector: UInt8) -> Int {
    [16_384, 125, 600, 100_000][Int(selector >> 2 & 3)]
}

/// Bytes cut at random places.
private struct Pieces: Sequence, IteratorProtocol {
    private var rest: ArraySlice<UInt8>
    private var generator: SeededGenerator
    private let longest: Int

    init(of bytes: [UInt8], seed: UInt64) {
        rest = bytes[...]
        generator = SeededGenerator(seed: seed)
        longest = [1, 3, 20, 500][Int(seed & 3)]
    }

    mutating func next() -> ArraySlice<UInt8>? {
        guard !rest.isEmpty else { return nil }
        let piece = rest.prefix(Int.random(in: 1...longest, using: &generator))
        rest = rest.dropFirst(piece.count)
        return piece
    }
}

// MARK: Frames

/// A message with its bytes instead of its range, for comparing.
private enum Received: Equatable {
    case text([UInt8])
    case binary([UInt8])
    case ping([UInt8])
    case pong([UInt8])
    case close(UInt16?, String)
    case fault(ProtocolFault)
}

extension FrameDecoder {
    /// Takes `bytes` and adds all that came of them to `received`.
    fileprivate mutating func feed(_ bytes: ArraySlice<UInt8>, _ received: inout [Received]) {
        append(bytes)
        do {
            while let message = try next() { received.append(look(at: message)) }
        } catch {
            received.append(.fault(error))
        }
        // A message under its limit, one read, the slack, and an incomplete head or control frame.
        demand(capacity <= maxMessage + Self.chunk + Self.slack + 256, "the buffer takes \(capacity) bytes")
    }

    private func look(at message: Message) -> Received {
        switch message {
        case .text(let range):
            demandText(bytes(of: range), "a text message")
            demand(range.count <= maxMessage && range.upperBound + Self.slack <= capacity, "no slack behind a message")
            return .text(bytes(of: range))
        case .binary(let range):
            demand(range.count <= maxMessage && range.upperBound + Self.slack <= capacity, "no slack behind a message")
            return .binary(bytes(of: range))
        case .ping(let payload): return .ping(payload)
        case .pong(let payload): return .pong(payload)
        case .close(let code, let reason): return .close(code, reason)
        }
    }
}

private func checkFrames(_ bytes: [UInt8], _ pieces: Pieces, _ decoder: FrameDecoder) {
    var whole = decoder
    var received: [Received] = []
    whole.feed(bytes[...], &received)

    var split = decoder
    var receivedInPieces: [Received] = []
    for piece in pieces { split.feed(piece, &receivedInPieces) }
    demand(received == receivedInPieces, "whole gives \(received), in pieces \(receivedInPieces)")
    demand(whole.isOver == split.isOver, "whole is over: \(whole.isOver), in pieces: \(split.isOver)")
    for case .fault(let fault) in received.dropLast() { demand(false, "something came after the fault \(fault)") }

    if case .fault(let fault) = received.last {
        demandPrintable(fault.message, "the fault")
        received.removeLast()
    }
    var again = decoder
    var receivedAgain: [Received] = []
    again.feed(encode(received, maskedWith: decoder.role == .server ? 0x1234_ABCD : nil)[...], &receivedAgain)
    demand(received == receivedAgain, "\(received), encoded and decoded, gives \(receivedAgain)")
}

private func encode(_ messages: [Received], maskedWith mask: UInt32?) -> [UInt8] {
    var bytes: [UInt8] = []
    for message in messages {
        switch message {
        case .text(let text): FrameEncoder.append(.text, text, maskedWith: mask, to: &bytes)
        case .binary(let payload): FrameEncoder.appendBinary(payload, maskedWith: mask, to: &bytes)
        case .ping(let payload): FrameEncoder.appendPing(payload, maskedWith: mask, to: &bytes)
        case .pong(let payload): FrameEncoder.appendPong(payload, maskedWith: mask, to: &bytes)
        case .close(let code, let reason):
            FrameEncoder.appendClose(code, reason: reason, maskedWith: mask, to: &bytes)
        case .fault: break
        }
    }
    return bytes
}

// MARK: Heads

/// What became of a head.
private enum Reading: Equatable {
    case incomplete
    case head(HTTPHead, rest: [UInt8])
    case fault
}

private func read(_ pieces: some Sequence<ArraySlice<UInt8>>, _ kind: HTTPHeadParser.Kind, _ maxBytes: Int) -> Reading {
    var parser = HTTPHeadParser(kind, maxBytes: maxBytes, maxHeaders: 20)
    var head: HTTPHead?
    do {
        for piece in pieces {
            if let found = try parser.feed(piece) { head = found }
        }
    } catch {
        demandPrintable("\(error)", "the fault of a head")
        return .fault
    }
    return head.map { .head($0, rest: parser.rest) } ?? .incomplete
}

private func checkHead(_ bytes: [UInt8], _ pieces: Pieces, _ kind: HTTPHeadParser.Kind, maxBytes: Int) {
    let whole = read([bytes[...]], kind, maxBytes)
    let inPieces = read(pieces, kind, maxBytes)
    demand(whole == inPieces, "whole gives \(whole), in pieces \(inPieces)")
    guard case .head(let head, let rest) = whole else { return }
    do {
        switch kind {
        case .response: try handshake?.check(head, body: rest)
        case .request:
            let subprotocol = head.list(of: "Sec-WebSocket-Protocol").first
            _ = try ServerHandshake(head).acceptance(subprotocol: subprotocol)
        }
    } catch {
        demandPrintable("\(error)", "the fault of a handshake")
        demand(!"\(error)".contains("s3cret-token"), "the fault of a handshake tells the token")
    }
}

/// The handshake of RFC 6455, section 1.3.
private let handshake: ClientHandshake? = {
    guard let target = try? WebSocketURL("wss://relay.example.com/ws?key=s3cret-token") else { return nil }
    return ClientHandshake(
        target: target, headers: [("Authorization", "Bearer s3cret-token")], subprotocol: "chat, superchat",
        key: Array("the sample nonce".utf8))
}()

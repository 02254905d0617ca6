import WebSocketCodec

/// A message with its bytes instead of its range, for comparing.
enum Received: Equatable {
    case text(String)
    case binary([UInt8])
    case ping([UInt8])
    case pong([UInt8])
    case close(UInt16?, String)
    case fault(UInt16)
}

extension FrameDecoder {
    /// Takes `bytes` in pieces of `size` and returns all that came of it, a fault last.
    mutating func feed(_ bytes: [UInt8], inPiecesOf size: Int = .max) -> [Received] {
        var received: [Received] = []
        var rest = bytes[...]
        repeat {
            append(rest.prefix(size))
            rest = rest.dropFirst(size)
            received += drain()
        } while !rest.isEmpty
        return received
    }

    /// Returns all that can be decoded, a fault last.
    mutating func drain() -> [Received] {
        var received: [Received] = []
        do {
            while let message = try next() { received.append(look(at: message)) }
        } catch {
            received.append(.fault(error.code))
        }
        return received
    }

    private func look(at message: Message) -> Received {
        switch message {
        case .text(let range): .text(String(decoding: bytes(of: range), as: UTF8.self))
        case .binary(let range): .binary(bytes(of: range))
        case .ping(let payload): .ping(payload)
        case .pong(let payload): .pong(payload)
        case .close(let code, let reason): .close(code, reason)
        }
    }
}

/// Returns what a client's decoder makes of `bytes`.
func decode(_ bytes: [UInt8], maxMessage: Int = FrameDecoder.defaultMaxMessage) -> [Received] {
    var decoder = FrameDecoder(role: .client, maxMessage: maxMessage)
    return decoder.feed(bytes)
}

/// Returns an unmasked frame with any first byte and the shortest form of its length.
func frame(_ first: UInt8, _ payload: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = [first]
    switch payload.count {
    case ..<126: bytes.append(UInt8(payload.count))
    case ..<65_536: bytes += [126, UInt8(payload.count >> 8), UInt8(payload.count & 255)]
    default: bytes += [127] + (0..<8).map { UInt8(truncatingIfNeeded: payload.count >> (56 - 8 * $0)) }
    }
    return bytes + payload
}

/// Returns an unmasked frame with a text payload.
func frame(_ first: UInt8, _ text: String) -> [UInt8] { frame(first, Array(text.utf8)) }

internal import GLibRuntime
internal import Glibc
internal import RelayCore
internal import RelayStream

/// Reads events as the streams of a rules file bring them, one at a time, from a file or from a text.
///
/// A stream is the one of the file; of several it is the one that an event's own member `stream` names, else the one
/// that was asked for, else the first.
@MainLoop
final class EventSource {
    /// An event with what is known of it.
    struct Found {
        /// The event.
        var event: Event
        /// Whether an event of its stream with the same id came before.
        var isRepeated: Bool
    }

    /// Something that could not be used as it stands.
    struct Complaint: Equatable {
        /// The line, from 1.
        var line: Int
        /// What is wrong, in a sentence.
        var sentence: String
        /// The start of what it is wrong with, which is safe to show.
        var excerpt: String
        /// Whether an event was lost.
        var isLoss: Bool
        /// Whether it is an event without a time of its own.
        var isTimeless = false
    }

    /// The events that named no stream, though there are several.
    private(set) var nameless = 0
    /// The stream of events that name none.
    var standardStream: String { streams[standard].name }
    private let streams: [VirtualStream]
    private let standard: Int
    private let takesWholeArrays: Bool
    /// Finds the member `stream`; nil if there is one stream only.
    private var selector: Selector?

    /// The bytes that are read at a time.
    private static let chunk = 256 << 10

    /// Creates a source of events of `streams`, at least one; `named` is the place of the stream of events that name none.
    init(_ streams: [RelayConfiguration.Stream], named: Int = 0) {
        self.streams = streams.map { VirtualStream($0) }
        standard = named
        takesWholeArrays = streams.contains { $0.format.takesWholeArrays }
        selector = streams.count > 1 ? Selector() : nil
    }

    /// Reads the events of an open file to its end.
    ///
    /// - Parameters:
    ///   - descriptor: the file.
    ///   - now: the time of an event that has none.
    ///   - complain: is told what cannot be used; the rest is read.
    ///   - take: is given each event.
    /// - Returns: why the file cannot be read any further, or nil at its end.
    /// - Throws: what `take` throws.
    func read<Failure: Error>(
        _ descriptor: Int32, now: () -> Instant, complain: (Complaint) -> Void,
        take: (Found) throws(Failure) -> Void
    ) throws(Failure) -> String? {
        var splitter = ValueSplitter(opensArrays: !takesWholeArrays)
        var chunk = [UInt8](repeating: 0, count: Self.chunk)
        while true {
            let count = chunk.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            if count < 0 { return String(cString: strerror(errno)) }
            if count == 0 { break }
            splitter.append(chunk[..<count])
            while let value = splitter.next() {
                try use(value, of: splitter, now(), complain, take)
            }
        }
        if let value = splitter.last() { try use(value, of: splitter, now(), complain, take) }
        if splitter.isInArray {
            complain(Complaint(line: splitter.line, sentence: "the array is not closed", excerpt: "", isLoss: true))
        }
        return nil
    }

    /// Reads the events of one JSON value.
    ///
    /// - Throws: what `take` throws.
    func read<Failure: Error>(
        _ message: [UInt8], line: Int, now: Instant, complain: (Complaint) -> Void,
        take: (Found) throws(Failure) -> Void
    ) throws(Failure) {
        try decode(message.span.bytes, line, now, complain, take)
    }

    private func use<Failure: Error>(
        _ value: ValueSplitter.Value, of splitter: borrowing ValueSplitter, _ now: Instant,
        _ complain: (Complaint) -> Void, _ take: (Found) throws(Failure) -> Void
    ) throws(Failure) {
        guard let fault = value.fault else {
            return try decode(splitter.bytes.span.bytes.extracting(value.place), value.line, now, complain, take)
        }
        let sentence =
            switch fault {
            case .unclosed: "an event that does not end was ignored"
            case .tooLong: "an event over \(ValueSplitter.longest) bytes was ignored"
            }
        let start = splitter.bytes[value.place].prefix(Self.excerpt).prefix { $0 != UInt8(ascii: "\n") }
        complain(
            Complaint(
                line: value.line, sentence: sentence,
                excerpt: Shown.printable(String(decoding: start, as: UTF8.self)), isLoss: true))
    }

    /// The bytes of a broken value that are shown.
    private static let excerpt = 80

    private func decode<Failure: Error>(
        _ message: RawSpan, _ line: Int, _ now: Instant, _ complain: (Complaint) -> Void,
        _ take: (Found) throws(Failure) -> Void
    ) throws(Failure) {
        guard let stream = stream(of: message, line, complain) else { return }
        let outcome = try stream.decode(message, at: now) { (event, isRepeated) throws(Failure) in
            try take(Found(event: event, isRepeated: isRepeated))
        }
        for report in outcome.reports {
            complain(
                Complaint(
                    line: line, sentence: report.fault.sentence, excerpt: report.excerpt, isLoss: report.fault.isLoss,
                    isTimeless: report.fault == .unusableTime))
        }
    }

    /// Returns the stream of a message, or complains that there is none of that name.
    private func stream(of message: RawSpan, _ line: Int, _ complain: (Complaint) -> Void) -> VirtualStream? {
        guard selector != nil else { return streams[standard] }
        guard let name = selector?.name(in: message) else {
            nameless += 1
            return streams[standard]
        }
        if let stream = streams.first(where: { $0.name == name }) { return stream }
        let suggestion = NearestName.suggestion(for: name, among: streams.map(\.name))
        let sentence =
            "an event names the stream \(Shown.quoted(name)), which the rules file does not have\(suggestion)"
        complain(Complaint(line: line, sentence: Shown.printable(sentence), excerpt: "", isLoss: true))
        return nil
    }

    /// Finds the member `stream` of a message, with the decoder of events: as if it were the kind.
    private struct Selector: ~Copyable {
        private var decoder: EventDecoder
        private var batch = EventBatch(stream: "")

        init?() {
            guard let pointer = JSONPointer("/stream") else { return nil }
            decoder = EventDecoder(
                format: EventFormat(kind: pointer), ids: IDSource(stream: "", random: 0, connection: 0))
        }

        mutating func name(in message: RawSpan) -> String? {
            _ = decoder.decode(message, receivedAt: Instant(milliseconds: 0), into: &batch)
            defer { batch.removeAll() }
            guard let record = batch.records.first else { return nil }
            return batch[0].text(of: record.kind)?.string
        }
    }
}

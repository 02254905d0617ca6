internal import GLibRuntime
internal import RelayCore

/// Knows how far the streams have come, for the commits that save it.
@MainLoop
protocol ProgressSource: AnyObject {
    /// Takes what can be saved once so many of the intakes that were ever added are committed.
    func takeProgress(committed: Int) -> [StreamProgress]
    /// Whether something is left that cannot be saved yet.
    var hasProgress: Bool { get }
}

/// What a stream has brought and is not saved yet.
///
/// A mark ends what one read brought. It can be saved when the intakes before it are committed and the lines before it
/// are written, so that what is saved never passes an event which a crash could still lose.
struct FlowProgress {
    /// How far everything has come at a mark.
    struct Position {
        /// The intakes added before it.
        var intakes: Int
        /// The lines handed to standard output before it.
        var lines: Int
    }

    private struct Mark {
        var progress: StreamProgress
        var position: Position
    }

    private var open: StreamProgress
    private var marks: [Mark] = []
    /// How many ids the marks have.
    private var seen = 0

    /// Creates an empty progress of a stream.
    init(stream: String) {
        open = StreamProgress(stream: stream)
    }

    /// Whether nothing waits to be saved.
    var isEmpty: Bool { marks.isEmpty }

    /// Adds the new events of a batch, of which `recorded` are intakes.
    mutating func add(_ batch: borrowing EventBatch, recorded: Int) {
        for record in batch.records.suffix(StreamProgress.mostSeen) where record.hasServerID {
            open.seen.append(record.identity)
        }
        open.unrecorded += batch.records.count - recorded
        if let last = batch.records.last(where: { $0.hasServerID }), let id = batch[0].text(of: last.id) {
            open.cursor = StreamCursor(id: id, createdAt: last.createdAt)
        }
    }

    /// Ends what one read brought.
    mutating func mark(at position: Position) {
        guard !open.seen.isEmpty || open.unrecorded > 0 else { return }
        marks.append(Mark(progress: open, position: position))
        seen += open.seen.count
        open = StreamProgress(stream: open.stream)
        forgetOldest()
    }

    /// Forgets ids that would not be kept anyway, before those of a fast stream that nobody could save fill the memory.
    private mutating func forgetOldest() {
        guard seen > 2 * StreamProgress.mostSeen else { return }
        for index in marks.indices where seen - marks[index].progress.seen.count >= StreamProgress.mostSeen {
            seen -= marks[index].progress.seen.count
            marks[index].progress.seen = []
        }
    }

    /// Takes what is before a position; nil if that is nothing.
    mutating func take(before position: Position) -> StreamProgress? {
        let count = marks.prefix { $0.position.intakes <= position.intakes && $0.position.lines <= position.lines }
            .count
        guard count > 0 else { return nil }
        var taken = StreamProgress(stream: open.stream)
        for mark in marks.prefix(count) {
            taken.seen.append(contentsOf: mark.progress.seen)
            taken.unrecorded += mark.progress.unrecorded
            taken.cursor = mark.progress.cursor ?? taken.cursor
        }
        taken.seen.removeFirst(max(0, taken.seen.count - StreamProgress.mostSeen))
        marks.removeFirst(count)
        seen = marks.reduce(0) { $0 + $1.progress.seen.count }
        return taken
    }
}

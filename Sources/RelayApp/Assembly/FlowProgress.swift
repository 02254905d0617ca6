internal import GLibRuntime
internal import RelayCore
internal import RelayStream

/// Knows how far the streams have come, for the commits that save it.
@MainLoop
protocol ProgressSource: AnyObject {
    /// Takes what can be saved once so many of the intakes that were ever added are committed.
    func takeProgress(committed: Int) -> [StreamProgress]
    /// Whether something is left to be saved.
    var hasProgress: Bool { get }
}

/// What a stream has brought and is not saved yet.
///
/// A mark ends what one read or a part of a page brought. It can be saved when the intakes before it are committed and
/// the lines before it are written, so that what is saved never passes an event which a crash could still lose.
struct FlowProgress {
    /// How far everything has come at a mark.
    struct Position {
        /// The intakes added before it.
        var intakes: Int
        /// The lines handed to standard output before it.
        var lines: Int
    }

    private struct Mark {
        var seen: [EventID]
        var unrecorded: Int
        var tickets: [CursorKeeper.Ticket]
        var position: Position
    }

    private let stream: String
    private var keeper: CursorKeeper
    /// The cursor that was taken last.
    private var saved: StreamCursor?
    // What came since the last mark.
    private var openIDs: [EventID] = []
    private var openUnrecorded = 0
    private var openTickets: [CursorKeeper.Ticket] = []
    private var marks: [Mark] = []
    /// How many ids the marks have.
    private var seen = 0

    /// Creates the progress of a stream that goes on from what was saved.
    init(saved: StreamProgress) {
        stream = saved.stream
        self.saved = saved.cursor
        keeper = CursorKeeper(saved: saved.cursor)
    }

    /// Whether nothing is left to be saved.
    var isEmpty: Bool { marks.isEmpty && keeper.cursor == saved }

    /// Adds the new events of a batch that came live, of which `recorded` are intakes.
    mutating func add(live batch: EventBatch, recorded: Int) {
        guard !batch.records.isEmpty else { return }
        add(batch, recorded)
        openTickets.append(keeper.add(live: batch))
    }

    /// Adds a batch of a catch-up; `fresh` has those of its events that had not been seen.
    mutating func add(caughtUp batch: EventBatch, fresh: EventBatch, recorded: Int) {
        add(fresh, recorded)
        openTickets.append(keeper.add(caughtUp: batch))
    }

    private mutating func add(_ batch: EventBatch, _ recorded: Int) {
        for record in batch.records.suffix(StreamProgress.mostSeen) where record.hasServerID {
            openIDs.append(record.identity)
        }
        openUnrecorded += batch.records.count - recorded
    }

    /// Ends what was added, which is safe at this position.
    mutating func mark(at position: Position) {
        guard !openTickets.isEmpty else { return }
        marks.append(Mark(seen: openIDs, unrecorded: openUnrecorded, tickets: openTickets, position: position))
        seen += openIDs.count
        (openIDs, openUnrecorded, openTickets) = ([], 0, [])
        forgetOldest()
    }

    /// Forgets ids that would not be kept anyway, before those of a fast stream that nobody could save fill the memory.
    private mutating func forgetOldest() {
        guard seen > 2 * StreamProgress.mostSeen else { return }
        for index in marks.indices where seen - marks[index].seen.count >= StreamProgress.mostSeen {
            seen -= marks[index].seen.count
            marks[index].seen = []
        }
    }

    /// A catch-up begins; returns behind which event.
    mutating func beginCatchUp() -> StreamCursor? { keeper.beginCatchUp() }

    /// The catch-up has brought what it could.
    mutating func endCatchUp() { keeper.endCatchUp() }

    /// Takes what is before a position; nil if that is nothing.
    mutating func take(before position: Position) -> StreamProgress? {
        let count = marks.prefix { $0.position.intakes <= position.intakes && $0.position.lines <= position.lines }
            .count
        var taken = StreamProgress(stream: stream)
        for mark in marks.prefix(count) {
            taken.seen.append(contentsOf: mark.seen)
            taken.unrecorded += mark.unrecorded
            seen -= mark.seen.count
            for ticket in mark.tickets { keeper.settle(ticket) }
        }
        taken.seen.removeFirst(max(0, taken.seen.count - StreamProgress.mostSeen))
        marks.removeFirst(count)
        if keeper.cursor != saved { taken.cursor = keeper.cursor }
        saved = keeper.cursor
        return count > 0 || taken.cursor != nil ? taken : nil
    }
}

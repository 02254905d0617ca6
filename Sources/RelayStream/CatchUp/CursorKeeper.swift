package import RelayCore

/// Says which cursor of a stream may be saved: catch-up that begins behind it, with dedupe, brings all that is not
/// settled.
///
/// A cursor names the last of some events, in the order in which the server tells them; whoever saves it claims that all
/// before it is settled. Two rules make that true:
///
/// - It never passes an event that is not settled. *Any* event that came before counts, on whichever way: one that came
///   live makes its copy on a page a duplicate, which nobody waits for, so the page's cursor must wait for the live one.
/// - While a catch-up runs, live events do not move it, since what lies between the two is still to come.
///   `endCatchUp()` lets it pass on to them.
///
/// Events are counted in batches, each with a ticket; those that came live and need not be remembered one by one during
/// a catch-up that never ends are forgotten, but for their last cursor.
package struct CursorKeeper: Sendable {
    /// Stands for the events of one batch until they are settled.
    package struct Ticket: Sendable, Hashable {
        fileprivate var number: Int
    }

    /// A cursor that may be saved once all events up to a ticket are settled.
    private struct Candidate {
        var number: Int
        var cursor: StreamCursor
    }

    /// The cursor to save; nil as long as there is none.
    package private(set) var cursor: StreamCursor?
    /// Where the next catch-up begins: what came behind it has not come yet, settled or not.
    package private(set) var position: StreamCursor?
    /// Whether a catch-up has not ended.
    package private(set) var isBehind = false

    /// How many parts of each ticket are not settled, from the ticket `firstNumber` on.
    private var openParts = Queue<Int>()
    private var firstNumber = 0
    /// In the order of the server.
    private var candidates = Queue<Candidate>()
    /// Those of live events that came while the keeper is behind.
    private var live = Queue<Candidate>()
    /// The last one that was taken out of `live`, since all up to it is settled.
    private var settledLive: StreamCursor?
    /// The newest of them.
    private var livePosition: StreamCursor?
    private var liveIdentity: EventID?

    /// Creates a keeper that continues from a cursor that was saved, if there is one.
    package init(saved: StreamCursor? = nil) {
        cursor = saved
        position = saved
    }

    /// How many tickets are remembered: those from the first one that is not settled on.
    package var ticketCount: Int { openParts.count }

    /// How many cursors wait for tickets.
    package var candidateCount: Int { candidates.count + live.count }

    /// A catch-up begins, or begins anew because another connection opened; returns where, or nil if nowhere.
    ///
    /// What came live since the last one began will be fetched again, since something before it is missing.
    package mutating func beginCatchUp() -> StreamCursor? {
        guard position != nil else { return nil }
        isBehind = true
        forgetLive()
        return position
    }

    /// The catch-up has brought all there was; or there will be none, and what is missing stays so.
    package mutating func endCatchUp() {
        guard isBehind else { return }
        isBehind = false
        // Of a ticket before all that are open.
        if let settledLive { candidates.append(Candidate(number: firstNumber - 1, cursor: settledLive)) }
        while let candidate = live.popFirst() { candidates.append(candidate) }
        position = livePosition ?? position
        forgetLive()
        advance()
    }

    /// New events came live: those of a read that had not been seen before.
    ///
    /// - Parameters:
    ///   - batch: the events.
    ///   - parts: how often `settle` will be called: once for everything that the events wait for, such as a commit and
    ///     the lines of standard output. With 0 they are settled now.
    /// - Returns: what to call `settle` with.
    package mutating func add(live batch: EventBatch, parts: Int = 1) -> Ticket {
        let ticket = open(parts)
        if let cursor = StreamCursor(lastOf: batch) {
            let candidate = Candidate(number: ticket.number, cursor: cursor)
            if isBehind {
                live.append(candidate)
                livePosition = cursor
                liveIdentity = cursor.identity
            } else {
                candidates.append(candidate)
                position = cursor
            }
        }
        if parts <= 0 { advance() }
        return ticket
    }

    /// Events came from a catch-up, with those that had been seen before, and even if all had.
    ///
    /// - Parameters:
    ///   - batch: the events.
    ///   - parts: as for live events; `settle` is for those that had not been seen.
    /// - Returns: what to call `settle` with.
    package mutating func add(caughtUp batch: EventBatch, parts: Int = 1) -> Ticket {
        let ticket = open(parts)
        // A page that holds the newest live event is beyond it: going on to that at the end would be a step back.
        if let liveIdentity, batch.records.contains(where: { $0.identity == liveIdentity }) { forgetLive() }
        if let cursor = StreamCursor(lastOf: batch) {
            candidates.append(Candidate(number: ticket.number, cursor: cursor))
            position = cursor
        }
        if parts <= 0 { advance() }
        return ticket
    }

    /// One part of what the events of a ticket waited for is settled.
    package mutating func settle(_ ticket: Ticket) {
        let place = ticket.number - firstNumber
        guard place >= 0, place < openParts.count, openParts[place] > 0 else { return }
        openParts[place] -= 1
        advance()
    }

    private mutating func open(_ parts: Int) -> Ticket {
        openParts.append(max(parts, 0))
        return Ticket(number: firstNumber + openParts.count - 1)
    }

    private mutating func forgetLive() {
        live = Queue()
        liveIdentity = nil
        settledLive = nil
        livePosition = nil
    }

    private mutating func advance() {
        while openParts.first == 0 {
            _ = openParts.popFirst()
            firstNumber += 1
        }
        while let first = candidates.first, first.number < firstNumber {
            cursor = first.cursor
            _ = candidates.popFirst()
        }
        while let first = live.first, first.number < firstNumber {
            settledLive = first.cursor
            _ = live.popFirst()
        }
    }
}

/// Values in order, taken out where they were not put in.
private struct Queue<Element: Sendable>: Sendable {
    private var elements: [Element] = []
    private var start = 0

    var count: Int { elements.count - start }
    var first: Element? { start < elements.count ? elements[start] : nil }

    subscript(index: Int) -> Element {
        get { elements[start + index] }
        set { elements[start + index] = newValue }
    }

    mutating func append(_ element: Element) {
        elements.append(element)
    }

    mutating func popFirst() -> Element? {
        guard let first else { return nil }
        start += 1
        // Moved together once half of it is gone, so that each element is moved once.
        if start > 32, start * 2 > elements.count {
            elements.removeFirst(start)
            start = 0
        }
        return first
    }
}

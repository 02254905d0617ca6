internal import HTTPClient
internal import RelayCore

/// The states of a stream's catch-up and the edges between them.
///
/// ```
/// idle --opened--> fetching --took--> feeding --fed--> fetching (the next page)
///                   |    ^               |
///            failed v    | waited,       +--fed--> finishing --finished--> idle, or fetching if another
///                  waiting opened                                          connection opened meanwhile
/// ```
///
/// A run covers what came before the connection opened for which it began. A connection that is lost does not end it,
/// so that a connection that flaps cannot keep a long catch-up from its end; but the next one calls for another run.
/// What has no edge changes nothing.
struct CatchUp {
    /// What is to be done.
    enum Step {
        /// Fetch a page, and call `took` or `failed`.
        case fetch(PageQuestion)
        /// Hand over these events, older first, and call `fed`.
        case feed([EventBatch])
        /// Wait, and call `waited` then.
        case wait(until: Instant)
        /// Tell what came of it, and call `finished`.
        case finish(CatchUpResult)
        /// Nothing until a connection opens.
        case rest
    }

    /// Where the catch-up is.
    private enum Phase {
        /// Nothing is to be fetched, or there is no connection.
        case idle
        /// A page is asked for.
        case fetching
        /// Events are handed over; then comes the move.
        case feeding(Move)
        /// The next try is due then.
        case waiting(Ending.Cause, until: Instant)
        /// It is being told what came of it.
        case finishing
    }

    /// What comes behind a page.
    enum Move: Equatable {
        /// The next page.
        case ask(Secret)
        /// The end, with what could not be fetched.
        case end(CatchUpResult.Gap?)
    }

    /// One way from the cursor to the opening of a connection.
    struct Run {
        /// The number of the connection that had opened.
        var connection: Int
        /// When it opened, by the wall clock.
        var openedAt: Instant
        /// How long there was no connection before it, if there had been one.
        var lost: Duration?
        /// Where it began, or begins again after a failure.
        var start: StreamCursor
        /// The addresses asked for since then, to notice a circle.
        var asked: Set<Secret> = []
        /// Pages taken.
        var pages = 0
        /// Elements taken.
        var count = 0
        /// Events handed over.
        var fed = 0
        /// The events of the order `newest` so far, as they came, and their bytes.
        var held: [EventBatch] = []
        var heldBytes = 0
    }

    let configuration: CatchUpConfiguration
    /// The redial policy without a history.
    private let freshPolicy: RedialPolicy
    private var policy: RedialPolicy
    private var phase = Phase.idle
    /// The event behind which the next run begins; with `newest` that of the present one until its events are used.
    var position: StreamCursor?
    /// The run that goes on; the last one, if none does.
    var run: Run?
    /// The position up to which it has been told that events are missing.
    private var toldFrom: StreamCursor?
    private var connections = 0
    private var isOpen = false
    private var openedAt = Instant(milliseconds: 0)
    private var lost: Duration?
    private var failedAt = Instant(milliseconds: .min)

    /// Creates a catch-up at rest, whose retries follow a redial policy.
    init(_ configuration: CatchUpConfiguration, policy: RedialPolicy) {
        self.configuration = configuration
        freshPolicy = policy
        self.policy = policy
    }

    /// Whether it has something to fetch.
    var isRunning: Bool {
        if case .idle = phase { false } else { true }
    }

    // MARK: The connection

    /// A connection opened, after a time without one if there had been one before.
    ///
    /// `cursor` is where to begin, unless a run goes on.
    mutating func opened(from cursor: StreamCursor, lost: Duration?, at now: Instant, wallNow: Instant) -> Step? {
        connections += 1
        isOpen = true
        openedAt = wallNow
        self.lost = lost
        switch phase {
        case .idle:
            position = cursor
            return begin()
        case .waiting(.network, let until): return hasten(.network, until: until, at: now)
        case .waiting, .fetching, .feeding, .finishing: return nil
        }
    }

    /// The connection is lost.
    mutating func closed() {
        isOpen = false
    }

    /// The token may be another one, which ends a wait for that.
    mutating func tokenChanged(at now: Instant) -> Step? {
        policy.tokenChanged()
        guard case .waiting(.authOrPolicy, let until) = phase else { return nil }
        return hasten(.authOrPolicy, until: until, at: now)
    }

    /// Brings the next try forward to now, but not closer to the last one than the base delay.
    private mutating func hasten(_ cause: Ending.Cause, until: Instant, at now: Instant) -> Step? {
        let earliest = max(now, failedAt + policy.backoff.base)
        guard earliest < until else { return nil }
        guard earliest > now else { return again() }
        phase = .waiting(cause, until: earliest)
        return .wait(until: earliest)
    }

    // MARK: The steps

    /// A page came.
    mutating func took(_ page: CatchUpPage) -> Step {
        guard case .fetching = phase else { return .rest }
        run?.pages += 1
        run?.count += page.count
        switch configuration.order {
        case .oldest: return tookOldest(page)
        case .newest: return tookNewest(page)
        }
    }

    /// No page came; `status` is that of the answer, if there was one without a page.
    mutating func failed(
        _ ending: Ending, status: Int?, at now: Instant, using generator: inout some RandomNumberGenerator
    ) -> Step {
        guard case .fetching = phase, let run else { return .rest }
        if status == 404 || status == 410, run.asked.count == 1 || configuration.order == .newest {
            return configuration.order == .newest
                ? deliver(because: ending.reason) : finish(gap(ending.reason, to: run.openedAt))
        }
        failedAt = now
        let until = now + policy.delay(after: ending.cause, using: &generator)
        phase = .waiting(ending.cause, until: until)
        self.run?.held = []
        return .wait(until: until)
    }

    /// The events have been handed over.
    mutating func fed() -> Step {
        guard case .feeding(let move) = phase else { return .rest }
        return make(move)
    }

    /// The time has come, or not yet.
    mutating func waited(at now: Instant) -> Step {
        guard case .waiting(_, let until) = phase else { return .rest }
        guard now >= until else { return .wait(until: until) }
        return again()
    }

    /// It has been told what came of it.
    ///
    /// - Returns: whether nothing is left to fetch, and what is to be done. Else a connection was lost meanwhile, and the
    ///   next one calls for another run.
    mutating func finished() -> (isComplete: Bool, step: Step) {
        guard case .finishing = phase else { return (false, .rest) }
        phase = .idle
        policy = freshPolicy
        let isComplete = isOpen && run?.connection == connections
        return (isComplete, isComplete ? .rest : begin())
    }

    // MARK: Runs

    /// Begins a run for the present connection.
    private mutating func begin() -> Step {
        phase = .idle
        guard isOpen, let position else { return .rest }
        run = Run(connection: connections, openedAt: openedAt, lost: lost, start: position)
        return ask(configuration.url.expanded(position))
    }

    /// Begins after a failure where the run had come to; a run of the order `oldest` keeps its limits.
    private mutating func again() -> Step {
        let former = run
        let step = begin()
        guard case .fetch(var question) = step, let former, configuration.order == .oldest,
            former.connection == connections
        else { return step }
        run?.pages = former.pages
        run?.count = former.count
        run?.fed = former.fed
        question.room = configuration.maxEvents - former.count
        return .fetch(question)
    }

    private mutating func ask(_ address: Secret) -> Step {
        guard let run else { return .rest }
        guard address.reveal().utf8.count <= HTTPAddress.maxBytes else {
            return finish(gap("the address of a page would be too long", to: run.openedAt))
        }
        self.run?.asked.insert(address)
        phase = .fetching
        return .fetch(
            PageQuestion(address: address, room: configuration.maxEvents - run.count, cursor: run.start))
    }

    /// Hands over events, and makes the move then.
    mutating func feed(_ batches: [EventBatch], then move: Move) -> Step {
        let batches = batches.filter { !$0.records.isEmpty }
        guard !batches.isEmpty else { return make(move) }
        run?.fed += batches.reduce(0) { $0 + $1.records.count }
        for batch in batches { advance(to: StreamCursor(lastOf: batch)) }
        phase = .feeding(move)
        return .feed(batches)
    }

    private mutating func advance(to cursor: StreamCursor?) {
        guard let cursor, cursor != position else { return }
        position = cursor
        // What helped gets on: the failures before are forgotten.
        policy = freshPolicy
    }

    private mutating func make(_ move: Move) -> Step {
        switch move {
        case .ask(let address): ask(address)
        case .end(let gap): finish(gap)
        }
    }

    private mutating func finish(_ gap: CatchUpResult.Gap?) -> Step {
        phase = .finishing
        toldFrom = gap == nil ? nil : position
        return .finish(CatchUpResult(events: run?.fed ?? 0, pages: run?.pages ?? 0, gap: gap))
    }

    /// Describes what is missing from the position on to `end`, by the clock of the server.
    ///
    /// Where nothing came since that was told last, only the time without a connection is new.
    func gap(_ reason: String, to end: Instant) -> CatchUpResult.Gap {
        guard let position, position != toldFrom else { return .init(length: run?.lost ?? .zero, reason: reason) }
        return .init(length: max(end - position.createdAt, .zero), reason: reason)
    }
}

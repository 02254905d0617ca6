internal import CGLib
internal import Glibc

/// A signal the relay obeys.
package enum UnixSignal: Sendable, CaseIterable {
    /// `SIGTERM`
    case terminate
    /// `SIGINT`
    case interrupt
    /// `SIGHUP`
    case hangup

    /// The signal's number.
    var number: Int32 {
        switch self {
        case .terminate: SIGTERM
        case .interrupt: SIGINT
        case .hangup: SIGHUP
        }
    }
}

/// Takes over the signals of ``UnixSignal`` for as long as it lives.
///
/// The C function is `g_unix_signal_source_new`.
@MainLoop
package final class UnixSignals {
    /// The signals in the order of their arrival; of more than 16 unread ones the newest are kept.
    package nonisolated let stream: AsyncStream<UnixSignal>

    private let continuation: AsyncStream<UnixSignal>.Continuation
    private var sources: [LoopSource] = []

    /// Starts to listen.
    package init() {
        let (stream, continuation) = AsyncStream.makeStream(
            of: UnixSignal.self, bufferingPolicy: .bufferingNewest(16))
        self.stream = stream
        self.continuation = continuation
        sources = UnixSignal.allCases.map { signal in
            LoopSource(g_unix_signal_source_new(signal.number), .plain) { continuation.yield(signal) }
        }
    }

    isolated deinit {
        continuation.finish()
    }
}

/// Settings of the process for signals it does not listen to.
package enum ProcessSignals {
    /// Makes writing to a closed pipe or socket an error instead of the end of the process.
    package static func ignoreBrokenPipe() {
        signal(SIGPIPE, SIG_IGN)
    }
}

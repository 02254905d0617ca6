/// The global actor of the GLib main loop: everything that touches GObjects, sockets or libcurl is isolated to it.
///
/// Callbacks that GLib makes on its thread enter with `MainLoop.assumeIsolated`.
@globalActor
package actor MainLoop {
    package static let shared = MainLoop()

    /// The executor that runs the loop; started at first use.
    package static let executor = MainLoopExecutor(name: "main-loop")

    package nonisolated var unownedExecutor: UnownedSerialExecutor { Self.executor.asUnownedSerialExecutor() }

    /// Runs `body` at once, in a callback that GLib made on the loop's thread; crashes on any other thread.
    package static func assumeIsolated<Result: Sendable, Failure: Error>(
        _ body: @MainLoop () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        executor.checkIsolated()
        // The check above makes the cast true: the body only loses its isolation.
        return try withoutActuallyEscaping(body) { body throws(Failure) in
            try unsafeBitCast(body, to: (() throws(Failure) -> Result).self)()
        }
    }
}

internal import CGLib

/// Writing only what a descriptor takes at once.
package enum PromptWrite {
    /// Writes the beginning of `bytes` without waiting, and returns how many bytes were taken.
    ///
    /// None are if the descriptor is full, has failed, or is of a kind that cannot be asked not to wait, such as a
    /// terminal; a blocking write tells which. The descriptor's flags, which other processes may share, stay as they
    /// are. `SIGPIPE` must be ignored.
    package static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int {
        max(0, bytes.withUnsafeBytes { relay_write_at_once(descriptor, $0.baseAddress, $0.count) })
    }

    /// Makes a pipe take up to `count` bytes when it is empty, if it does not yet and the system allows it.
    ///
    /// - Returns: how many bytes an empty pipe takes now; nil if this is no pipe.
    package static func widenPipe(_ descriptor: Int32, to count: Int) -> Int? {
        let size = relay_pipe_size(descriptor)
        guard size > 0 else { return nil }
        return Int(size < count ? max(size, relay_set_pipe_size(descriptor, Int32(clamping: count))) : size)
    }
}

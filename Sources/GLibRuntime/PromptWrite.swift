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
}

package import GLibRuntime
package import RelayCore

/// Takes what a stream brings, on the main loop and without awaiting, so that a read of many messages costs one turn.
@MainLoop
package protocol StreamHandler: AnyObject {
    /// A connection opened; its messages follow.
    ///
    /// `number` counts the connections of the stream from 1. `secrets` is what the server knows and may repeat, and
    /// what no log line may show.
    func opened(connection number: Int, hiding secrets: [Secret])

    /// Whole messages, at `places` in `bytes`, in their order.
    ///
    /// Text has been checked to be UTF-8, binary has not. The array is the one that is read into: whoever keeps it makes
    /// the next read copy it.
    func received(_ bytes: [UInt8], messagesAt places: [Range<Int>])

    /// All whole messages of what was read at once (at most 512 KiB) have been handed over.
    func chunkEnded()
}

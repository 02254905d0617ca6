internal import GLibRuntime
internal import RelayCore
internal import RelaySinks

/// The fast path of standard output: lines are written into a block and handed to the queue once a read.
///
/// A struct, of which each stream has its own, so that adding a line checks no access to an object.
@MainLoop
struct StdoutLines {
    private let queue: LineQueue
    private let format: StdoutConfiguration.Format
    private let style: TextLine.Style
    private var block: [UInt8] = []
    private var writer = NoticeLineWriter()
    private var lines = 0
    /// Called when the queue has no room for more, before anything else can be read.
    var onNoRoom: (@MainLoop () -> Void)?

    /// The size above which a block is handed on before the read is done.
    private let blockSize: Int

    /// Creates the fast path to `queue`, in blocks of `blockSize` bytes and at most a line more.
    init(queue: LineQueue, blockSize: Int, format: StdoutConfiguration.Format, style: TextLine.Style) {
        self.queue = queue
        self.blockSize = blockSize
        self.format = format
        self.style = style
    }

    /// Adds the line of a notice.
    mutating func append(_ notice: Notice, _ event: Event) {
        switch format {
        case .json:
            writer.appendLine(notice, event, to: &block)
        case .text: TextLine.append(notice, event, style: style, to: &block)
        }
        lines += 1
        if block.count >= blockSize { flush() }
    }

    /// The lines that the queue ever took.
    var handedLines: Int { queue.counts.accepted }

    /// Hands all lines to the queue.
    mutating func flush() {
        guard lines > 0 else { return }
        let hasRoom = queue.append(block, lines: lines)
        block.removeAll(keepingCapacity: true)
        lines = 0
        if !hasRoom { onNoRoom?() }
    }
}

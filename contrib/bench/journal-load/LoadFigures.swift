import Glibc

/// What is measured, and the table of it.
struct LoadFigures {
    private let folder: String
    private let clock = ContinuousClock()
    private let begin: ContinuousClock.Instant
    private var partBegin: ContinuousClock.Instant
    private var commitBegin: ContinuousClock.Instant
    /// How long each commit took since the last row, and in all; in microseconds.
    private var part: [UInt32] = []
    private var all: [UInt32] = []
    private var events = 0
    private var allEvents = 0

    init(folder: String) {
        self.folder = folder
        begin = clock.now
        (partBegin, commitBegin) = (begin, begin)
    }

    mutating func beginCommit() { commitBegin = clock.now }

    mutating func endCommit(of count: Int) {
        part.append(UInt32(clamping: Int((clock.now - commitBegin) / .microseconds(1))))
        events += count
        allEvents += count
    }

    static func printHead() {
        print("of a commit: p50, p99 and the longest; accepted/s: without the time of deliveries and of this program")
        row(["events", "events/s", "accepted/s", "p50 ms", "p99 ms", "max ms", "db MB", "WAL MB", "RSS MB", "CPU s"])
    }

    /// Prints a row of what happened since the last one.
    mutating func printRow(after count: Int) {
        let now = clock.now
        Self.row(["\(count)"] + Self.rates(part, events, over: now - partBegin) + sizes)
        all += part
        part.removeAll(keepingCapacity: true)
        events = 0
        partBegin = clock.now
    }

    /// Prints a row of everything.
    mutating func printSum() {
        all += part
        Self.row(["all"] + Self.rates(all, allEvents, over: clock.now - begin) + sizes)
    }

    private static func rates(_ commits: [UInt32], _ events: Int, over time: Duration) -> [String] {
        let sorted = commits.sorted()
        func share(_ percent: Int) -> String {
            sorted.isEmpty ? "-" : milliseconds(sorted[min(sorted.count - 1, sorted.count * percent / 100)])
        }
        let accepting = sorted.reduce(0.0) { $0 + Double($1) } / 1e6
        return [
            "\(Int(Double(events) / (time / .seconds(1))))", "\(Int(Double(events) / max(accepting, 1e-9)))",
            share(50), share(99), share(100),
        ]
    }

    private static func milliseconds(_ microseconds: UInt32) -> String {
        "\(microseconds / 1000).\(microseconds % 1000 / 100)"
    }

    private var sizes: [String] {
        let cpu = Int(Glibc.clock()) / 1_000_000
        return [megabytes(of: "journal.db"), megabytes(of: "journal.db-wal"), residentMegabytes, "\(cpu)"]
    }

    private func megabytes(of name: String) -> String {
        var status = stat()
        guard stat(folder + "/" + name, &status) == 0 else { return "-" }
        return Self.tenths(Int(status.st_size))
    }

    /// The memory that is resident now; the field is counted in pages (proc(5), statm).
    private var residentMegabytes: String {
        let descriptor = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "-" }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 200)
        let count = read(descriptor, &bytes, bytes.count)
        let words = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split(separator: " ")
        return words.count > 1 ? Self.tenths((Int(words[1]) ?? 0) * Int(getpagesize())) : "-"
    }

    private static func tenths(_ bytes: Int) -> String { "\(bytes / 1_000_000).\(bytes / 100_000 % 10)" }

    private static func row(_ cells: [String]) {
        let width = 11
        print(cells.map { String(repeating: " ", count: max(1, width - $0.count)) + $0 }.joined())
        fflush(nil)
    }
}

internal import CGLib
internal import Glibc

/// The armed timers in the order of their deadlines, behind one `timerfd` on `CLOCK_BOOTTIME`.
///
/// One descriptor for all timers, opened once: arming a timer cannot fail. The descriptor is armed for the first
/// deadline only, and not at all without one, so an idle loop sleeps.
@MainLoop
final class TimerQueue {
    static let shared = TimerQueue()

    /// Orders timers by deadline, those of one deadline by age.
    struct Key: Equatable, Comparable {
        var deadline: Int64
        var serial: UInt64

        static func < (left: Key, right: Key) -> Bool {
            (left.deadline, left.serial) < (right.deadline, right.serial)
        }
    }

    private struct Entry {
        let key: Key
        weak var timer: LoopTimer?
    }

    private let descriptor: Int32
    private var source: LoopSource?
    private var entries: [Entry] = []
    private var serial: UInt64 = 0
    /// The deadline the descriptor is armed for.
    private var armedDeadline: Int64?

    private init() {
        descriptor = timerfd_create(CLOCK_BOOTTIME, Int32(TFD_NONBLOCK) | Int32(TFD_CLOEXEC))
        // A process that cannot open its first descriptor cannot relay anything either.
        precondition(descriptor >= 0, "timerfd_create failed: errno \(errno)")
        source = LoopSource(g_unix_fd_source_new(descriptor, G_IO_IN), .descriptor) { TimerQueue.shared.fireDue() }
    }

    func add(_ timer: LoopTimer, deadline: Int64) -> Key {
        serial += 1
        let key = Key(deadline: deadline, serial: serial)
        entries.insert(Entry(key: key, timer: timer), at: firstIndex(notBefore: key))
        arm()
        return key
    }

    func remove(_ key: Key) {
        let index = firstIndex(notBefore: key)
        // A timer that is due and about to fire has left the entries already.
        guard index < entries.count, entries[index].key == key else { return }
        entries.remove(at: index)
        arm()
    }

    private func firstIndex(notBefore key: Key) -> Int {
        var low = 0
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].key < key { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private func fireDue() {
        var expirations: UInt64 = 0
        _ = Glibc.read(descriptor, &expirations, MemoryLayout<UInt64>.size)
        armedDeadline = nil
        let now = BootTime.milliseconds()
        let due = entries.prefix { $0.key.deadline <= now }
        entries.removeFirst(due.count)
        // A handler may cancel or rearm a timer that is due too: then its key has changed.
        for entry in due where entry.timer?.armed == entry.key {
            let lateness = now.subtractingReportingOverflow(entry.key.deadline)
            entry.timer?.fire(lateness: .milliseconds(lateness.overflow ? .max : lateness.partialValue))
        }
        arm()
    }

    private func arm() {
        let deadline = entries.first?.key.deadline
        guard deadline != armedDeadline else { return }
        armedDeadline = deadline
        var setting = itimerspec()
        if let deadline {
            // All zero would disarm, and the kernel refuses a time before its start.
            let time = max(deadline, 1)
            setting.it_value.tv_sec = time_t(time / 1000)
            setting.it_value.tv_nsec = Int(time % 1000) * 1_000_000
        }
        timerfd_settime(descriptor, Int32(TFD_TIMER_ABSTIME), &setting, nil)
    }
}

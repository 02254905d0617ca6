internal import GLibRuntime
internal import RelayCore

/// The times of a file, in its order.
struct ReadTimes {
    /// The names; one with faults of its own is there, so that its users are not at fault.
    var names: [String] = []
    /// The times that are right.
    var times: [String: QuietTime] = [:]
    /// Where each begins.
    var nodes: [ConfigurationNode.Member] = []

    /// Returns the place of the time that `node` names; reports an unknown one.
    func place(_ node: ConfigurationNode, _ problems: Problems) -> Int? {
        guard let name = node.string(problems, expected: "the name of a time") else { return nil }
        if let place = names.firstIndex(of: name) { return place }
        let suggestion = NearestName.suggestion(for: name, among: names)
        problems.add(at: node, "there is no time \(Shown.quoted(name))\(suggestion)")
        return nil
    }
}

/// Reads `times`: recurring ranges of times of day.
struct TimesReader {
    /// The most times of a file: their states are the bits of a word.
    private static let mostTimes = 64
    private static let longestName = 64
    private static let dayNames = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]

    private let problems: Problems
    private let zones: ZoneReader

    /// Creates a reader.
    init(_ problems: Problems, zones: ZoneReader) {
        self.problems = problems
        self.zones = zones
    }

    /// Reads the value of `times`.
    func read(_ node: ConfigurationNode) -> ReadTimes {
        guard var reader = ObjectReader(node, problems) else { return ReadTimes() }
        var times = ReadTimes()
        for member in reader.takeAll() {
            checkName(member)
            times.names.append(member.key)
            times.nodes.append(member)
            times.times[member.key] = time(member.value)
        }
        reader.finish()
        if times.names.count > Self.mostTimes { problems.add(at: node, "has more than \(Self.mostTimes) times") }
        return times
    }

    private func checkName(_ member: ConfigurationNode.Member) {
        let isShort = (1...Self.longestName).contains(member.key.unicodeScalars.count)
        guard !isShort || member.key.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else {
            return
        }
        problems.add(
            Problem(
                .error, at: member.keyPosition, path: member.value.path,
                message: "a name has 1 to \(Self.longestName) characters and no control characters"))
    }

    private func time(_ node: ConfigurationNode) -> QuietTime? {
        guard var reader = ObjectReader(node, problems) else { return nil }
        let from = reader.required("from").flatMap { TimeOfDay.read($0, problems) }
        let toNode = reader.required("to")
        let to = toNode.flatMap { TimeOfDay.read($0, orEndOfDay: true, problems) }
        let days = reader.optional("days").map { self.days($0) } ?? Array(repeating: true, count: 7)
        let zoneNode = reader.optional("zone")
        let zone = zoneNode.map { zones.read($0, problems) } ?? zones.system(for: node, problems)
        reader.finish()
        guard let from, let to, let toNode, let zone else { return nil }
        if from == to {
            problems.add(at: toNode, "\"from\" and \"to\" are the same; a whole day is from \"00:00\" to \"24:00\"")
            return nil
        }
        if from == 0, to == TimeOfDay.endOfDay, !days.contains(false) {
            problems.add(at: node, "is on for the whole week, and would never end; its uses can go instead")
            return nil
        }
        return QuietTime(from: from, to: to, days: days, zone: zone)
    }

    private func days(_ node: ConfigurationNode) -> [Bool] {
        var days = Array(repeating: false, count: 7)
        guard case .array(let elements) = node.value else {
            problems.add(at: node, "expected an array of days such as [\"mon\", \"fri\"], found \(node.kind)")
            return days
        }
        if elements.isEmpty { problems.add(at: node, "names no day") }
        for element in elements {
            guard let name = element.string(problems, expected: "a day such as \"mon\"") else { continue }
            guard let day = Self.dayNames.firstIndex(of: name) else {
                let suggestion = NearestName.suggestion(for: name, among: Self.dayNames)
                let choice = suggestion.isEmpty ? "; days are \(Self.dayNames.joined(separator: " "))" : suggestion
                problems.add(at: element, "there is no day \(Shown.quoted(name))\(choice)")
                continue
            }
            if days[day] { problems.add(at: element, "the day \(Shown.quoted(name)) stands twice") }
            days[day] = true
        }
        return days
    }
}

/// Reads names of zones.
///
/// A class, as it remembers the names of the zone table, which takes a walk over the disk.
final class ZoneReader {
    private lazy var fault = systemFault()
    private lazy var system = fault == nil ? Zone() : nil
    private let systemFault: () -> SystemZone.Fault?
    private let look: (String) -> ZoneTable.Entry
    private var known: [String: ZoneTable.Entry] = [:]
    private var names: [String]?

    /// Creates a reader that looks names up in the system's table, or in that of a test.
    init(
        look: @escaping (String) -> ZoneTable.Entry = { ZoneTable.look(up: $0) },
        systemFault: @escaping () -> SystemZone.Fault? = { SystemZone.fault() }
    ) {
        self.look = look
        self.systemFault = systemFault
    }

    /// Returns the system's zone, for what names none; reports at `node` that it is not known.
    func system(for node: ConfigurationNode, _ problems: Problems) -> Zone? {
        if let fault {
            problems.add(
                at: node,
                "is in the system's zone, as it names none, and that is not known: \(Shown.printable(fault.description))"
                    + (fault.hasTable ? "; write \"zone\", or set \(fault.source) right" : ""))
        }
        return system
    }

    /// Returns the zone that `node` names; reports an unknown one.
    func read(_ node: ConfigurationNode, _ problems: Problems) -> Zone? {
        guard let name = node.string(problems, expected: "a zone such as \"Europe/Berlin\"") else { return nil }
        switch entry(name) {
        case .zone(let zone): return zone
        case .noTable:
            problems.add(
                at: node,
                "the zone \(Shown.quoted(name)) cannot be looked up: this system has no zone table; install tzdata")
        case .unknown(let names):
            let suggestion = NearestName.suggestion(for: name, among: names)
            let choice = suggestion.isEmpty ? "; zones are named like \"Europe/Berlin\"" : suggestion
            problems.add(at: node, "there is no zone \(Shown.quoted(name))\(choice)")
        }
        return nil
    }

    private func entry(_ name: String) -> ZoneTable.Entry {
        if let entry = known[name] { return entry }
        let entry = look(name)
        // What is unknown is not kept by name: a file may hold as many as it likes.
        if case .zone = entry { known[name] = entry }
        return entry
    }
}

/// Times of day as people write them.
enum TimeOfDay {
    /// The minute of `24:00`.
    static let endOfDay = 1440

    /// Reads `"HH:MM"`; reports what is wrong and returns nil.
    static func read(
        _ node: ConfigurationNode, orEndOfDay: Bool = false, _ problems: Problems
    ) -> QuietTime.Minute? {
        guard let text = node.string(problems, expected: "a time of day such as \"07:30\"") else { return nil }
        if text == "24:00" {
            if orEndOfDay { return endOfDay }
            problems.add(at: node, "\"24:00\" is for \"to\" only; write \"00:00\"")
            return nil
        }
        let digits = Array(text.utf8)
        if digits.count == 5, digits[2] == UInt8(ascii: ":"), let hour = number(digits[0...1]),
            let minute = number(digits[3...4]), hour < 24, minute < 60
        {
            return hour * 60 + minute
        }
        problems.add(at: node, "\(Shown.quoted(text)) is no time of day; write it like \"07:30\" or \"22:00\"")
        return nil
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
        guard digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
        return digits.reduce(0) { $0 * 10 + Int($1) - 48 }
    }
}

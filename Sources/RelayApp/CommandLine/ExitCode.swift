/// How the process ends, as scripts and service managers see it.
package enum ExitCode: Int32, Sendable {
    /// Done.
    case done = 0
    /// Failed while running.
    case failed = 1
    /// The command line is wrong (`EX_USAGE` of sysexits.h).
    case usage = 64
    /// The configuration is wrong (`EX_CONFIG` of sysexits.h); starting again without a change will not help.
    case configuration = 78
}

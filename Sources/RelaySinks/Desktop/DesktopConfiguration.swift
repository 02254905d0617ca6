#if Desktop
    package import RelayCore

    /// The keys of a sink of the type `desktop`. It has none of its own yet.
    package struct DesktopConfiguration: Sendable, Equatable {
        /// Keys that are planned, for `ObjectReader.finish(notYet:)`.
        package static let notYet = ["actions", "icon", "sound", "timeout"]

        /// Creates the configuration.
        package init() {}

        /// Takes the keys of this type; the caller takes those that all types have.
        package static func read(_ reader: inout ObjectReader) -> DesktopConfiguration {
            DesktopConfiguration()
        }
    }
#endif

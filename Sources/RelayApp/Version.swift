/// The version of the program.
package enum Version {
    /// The number, by semantic versioning.
    package static let number = "0.1.0"
}

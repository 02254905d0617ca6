internal import Glibc

/// The descriptors 0, 1 and 2.
package enum StandardDescriptors {
    /// Puts `/dev/null` where one of them is closed.
    ///
    /// Else the next file or socket would take its number, and get what is meant for a person. Using one that was closed
    /// fails as before: standard input is opened for writing only, the outputs for reading only.
    package static func occupy() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
            // Gets the lowest free number, which is this one.
            _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }
}

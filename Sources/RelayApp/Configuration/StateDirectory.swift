internal import Glibc

/// The directory in which a relay keeps its state.
enum StateDirectory {
    /// Returns the place without `--state`: `$STATE_DIRECTORY`, else `$XDG_STATE_HOME/chirp-relay`, else below the home
    /// directory; nil if the environment gives none.
    static func usualPath(_ environment: (String) -> String?) -> String? {
        // systemd separates several directories by colons; the first is ours.
        if let given = environment("STATE_DIRECTORY")?.split(separator: ":").first { return String(given) }
        // Relative values are ignored, as the XDG Base Directory Specification demands.
        if let state = environment("XDG_STATE_HOME"), state.hasPrefix("/") { return state + "/chirp-relay" }
        if let home = environment("HOME"), home.hasPrefix("/") { return home + "/.local/state/chirp-relay" }
        return nil
    }

    /// Makes the directory and those above it, where they are missing, for its user only (mode 0700).
    ///
    /// - Returns: why it cannot be used, or nil.
    static func make(_ path: String) -> String? {
        var built = path.hasPrefix("/") ? "" : "."
        for part in path.split(separator: "/") {
            built += "/" + part
            if mkdir(built, 0o700) != 0, errno != EEXIST {
                return "mkdir \(built): \(String(cString: strerror(errno)))"
            }
        }
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { return "it is no directory" }
        guard access(path, R_OK | W_OK | X_OK) == 0 else { return String(cString: strerror(errno)) }
        return nil
    }
}
